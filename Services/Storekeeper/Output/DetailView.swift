import Commands
import Operations

/// A label and its text; nil omits the line.
typealias Fact = (name: String, text: String?)

/// Labelled lines of a detail view.
enum FactLines {
    static func of(_ facts: [Fact]) -> [String] {
        facts.compactMap { name, text in
            text.map { name + String(repeating: " ", count: max(1, 13 - name.count)) + $0.escaped }
        }
    }
}

/// One object with its facts and payload. The payload keeps the spelling of its numbers and the order of its members.
struct DetailView<Row: Encodable> {
    var row: Row
    /// As text.
    var facts: [Fact]
    /// Heading of the payload.
    var title = ""
    var payload: [UInt8]?
    /// Text where there is no payload.
    var noPayload = "none"

    func print(_ output: OutputOptions, in context: CommandContext) throws {
        let payload = payload.flatMap { PrettyJSON($0)?.text }
        guard !output.json else {
            return context.print(Self.json(try OutputOptions.json(row), adding: payload ?? "null"))
        }
        FactLines.of(facts).forEach(context.print)
        context.print("\n" + title + (payload ?? noPayload))
    }

    /// Inserts the payload into the object in alphabetical order.
    /// - Parameter object: pretty-printed and sorted, with at least one member.
    static func json(_ object: String, adding payload: String) -> String {
        var lines = object.split(separator: "\n").map(String.init)
        let member = "  \"payload\" : \(payload)"
        // Nested members are indented further.
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
