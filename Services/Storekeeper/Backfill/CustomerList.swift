import ArgumentParser

/// The customers of a backfill, each once, in their order.
struct CustomerList {
    let ids: [String]

    /// - Throws: `ValidationError` naming the first lines that are no transaction ids: a file of something else must not
    ///   become a thousand questions.
    init(_ text: String) throws {
        var seen: Set<String> = []
        var ids: [String] = []
        var problems: [String] = []
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let id = line.prefix { $0 != "#" }.filter { !$0.isWhitespace }
            guard !id.isEmpty else { continue }
            guard id.count <= 30, id.allSatisfy({ $0.isASCII && $0.isNumber }) else {
                problems.append("line \(number + 1): \(id.prefix(40).description.visible)")
                continue
            }
            if seen.insert(id).inserted { ids.append(id) }
        }
        guard problems.isEmpty else {
            throw ValidationError(
                "\(problems.count) lines are no original transaction ids (digits): "
                    + problems.prefix(3).joined(separator: "; "))
        }
        guard !ids.isEmpty else { throw ValidationError("the file holds no original transaction ids") }
        self.ids = ids
    }
}
