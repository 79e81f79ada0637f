/// What is said of something, under its name; a text that is nil is left out.
typealias Fact = (name: String, text: String?)

/// Facts for people, one below the other.
enum FactLines {
    static func of(_ facts: [Fact]) -> [String] {
        facts.compactMap { name, text in
            text.map { name + String(repeating: " ", count: max(1, 13 - name.count)) + $0.escaped }
        }
    }
}

/// One thing in full: its facts, and the payload below them. The payload keeps the spelling of its numbers and the order of
/// its members.
struct DetailView<Row: Encodable> {
    var row: Row
    /// For people.
    var facts: [Fact]
    /// What stands above the payload.
    var title = ""
    var payload: [UInt8]?
    /// What stands in the place of a payload that is none.
    var noPayload = "none"

    func print(_ output: OutputOptions, in context: CommandContext) throws {
        let payload = payload.flatMap { PrettyJSON($0)?.text }
        guard !output.json else {
            return context.print(Self.json(try OutputOptions.json(row), adding: payload ?? "null"))
        }
        FactLines.of(facts).forEach(context.print)
        context.print("\n" + title + (payload ?? noPayload))
    }

    /// The object with the payload where the alphabet has it.
    /// - Parameter object: pretty and sorted, with at least one member.
    static func json(_ object: String, adding payload: String) -> String {
        var lines = object.split(separator: "\n").map(String.init)
        let member = "  \"payload\" : \(payload)"
        // What is nested stands further to the right.
        if let next = lines.firstIndex(where: { $0.hasPrefix("  \"") && $0 > "  \"payload\"" }) {
            lines.insert(member + ",", at: next)
        } else {
            let last = lines.count - 1
            lines[last - 1] += ","
            lines.insert(member, at: last)
        }
        return lines.joined(separator: "\n")
    }
}
