import ArgumentParser
import Commands
import Foundation

/// A row of a list, as text and as JSON.
protocol ListedRow: Encodable, Sendable {
    static var columns: [TextTable.Column] { get }
    /// One for each column.
    var cells: [String] { get }
}

/// How a command prints its result.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print JSON (sorted keys, times in UTC; signed payloads unchanged).")
    var json = false

    /// Prints a table, or an array of objects.
    /// - Parameter none: text in place of an empty table.
    func list<Row: ListedRow>(_ rows: [Row], none: String, in context: CommandContext) throws {
        if json { return try print(json: rows, in: context) }
        guard !rows.isEmpty else { return context.print(none) }
        TextTable(columns: Row.columns, rows: rows.map(\.cells)).lines(in: context.style).forEach(context.print)
    }

    /// Prints one value as JSON.
    func print(json value: some Encodable, in context: CommandContext) throws {
        context.print(try Self.json(value))
    }

    /// Pretty-printed, sorted, control characters escaped.
    static func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(date.text)
        }
        let text = String(decoding: try encoder.encode(value), as: UTF8.self)
        return text.split(separator: "\n").map { String($0).escaped }.joined(separator: "\n")
    }
}
