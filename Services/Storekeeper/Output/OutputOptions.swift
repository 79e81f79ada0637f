import ArgumentParser
import Foundation

/// A row of what a command lists, for people and for programs.
protocol ListedRow: Encodable, Sendable {
    static var columns: [TextTable.Column] { get }
    /// One for each column.
    var cells: [String] { get }
}

/// How a command prints what it found.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print JSON: keys in alphabetical order, times in UTC; what Apple signed stands as Apple wrote it.")
    var json = false

    /// Prints a table, or an array of objects.
    /// - Parameter none: what people read in place of an empty table.
    func list<Row: ListedRow>(_ rows: [Row], none: String, in context: CommandContext) throws {
        if json { return try print(json: rows, in: context) }
        guard !rows.isEmpty else { return context.print(none) }
        TextTable(columns: Row.columns, rows: rows.map(\.cells)).lines.forEach(context.print)
    }

    /// Prints one value as JSON.
    func print(json value: some Encodable, in context: CommandContext) throws {
        context.print(try Self.json(value))
    }

    /// Pretty, sorted, and safe for a terminal.
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
