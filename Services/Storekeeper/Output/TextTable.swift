import Commands
import Foundation

/// A table with headings, each column as wide as its widest cell, control characters escaped.
struct TextTable: Sendable {
    struct Column: Sendable, ExpressibleByStringLiteral {
        var heading: String
        var isNumber = false

        init(stringLiteral heading: String) { self.heading = heading }

        /// Aligned right.
        static func number(_ heading: String) -> Column {
            var column = Column(stringLiteral: heading)
            column.isNumber = true
            return column
        }
    }

    var columns: [Column]
    var rows: [[String]]

    /// Headings first; trailing spaces removed.
    var lines: [String] {
        let cells = [columns.map(\.heading)] + rows.map { $0.map(\.escaped) }
        let widths = columns.indices.map { index in cells.map { $0[index].count }.max() ?? 0 }
        return cells.map { row in
            let line = columns.indices.map { index in
                let space = String(repeating: " ", count: widths[index] - row[index].count)
                return columns[index].isNumber ? space + row[index] : row[index] + space
            }.joined(separator: "  ")
            return line.trimmingEnd
        }
    }
}

extension TextTable {
    /// The lines for a terminal: headings stand out, and a table that is wider has a line for each cell, so that nothing is cut and
    /// ids can be copied.
    func lines(in style: TerminalStyle) -> [String] {
        let lines = lines
        guard let width = style.width, lines.contains(where: { $0.count > width }) else {
            return lines.enumerated().map { $0.offset == 0 ? style.text($0.element, .heading) : $0.element }
        }
        let widest = columns.map(\.heading.count).max() ?? 0
        return rows.enumerated().flatMap { index, row in
            (index == 0 ? [] : [""])
                + zip(columns, row).map { column, cell in
                    let heading = column.heading.padding(toLength: widest, withPad: " ", startingAt: 0)
                    return "\(style.text(heading, .faint))  \(cell.escaped)".trimmingEnd
                }
        }
    }
}

extension String {
    var trimmingEnd: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
