import Foundation

/// How output for a terminal looks: its width, and whether it has colours. Files and pipes get whole lines without colours.
package struct TerminalStyle: Sendable {
    /// Meaning of a text; the terminal's own palette has the colours.
    package enum Tone: String, Sendable {
        case heading = "1"
        case faint = "2"
        case bad = "31"
        case good = "32"
        case warning = "33"
    }

    /// Columns; nil where output does not go to a terminal.
    package let width: Int?
    package let hasColours: Bool

    /// For what is no terminal.
    package static let none = TerminalStyle(environment: [:], columns: nil)

    /// - Parameters:
    ///   - environment: `NO_COLOR` with any value (https://no-color.org) and `TERM=dumb` turn colours off.
    ///   - columns: of the terminal; nil where output does not go to one.
    package init(environment: [String: String], columns: Int?) {
        width = columns
        hasColours = columns != nil && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }

    /// That of this process's standard output.
    package static func standardOutput(_ environment: [String: String]) -> TerminalStyle {
        let screen = TerminalScreen()
        return TerminalStyle(environment: environment, columns: screen.isTerminal ? screen.width : nil)
    }

    package func text(_ text: String, _ tone: Tone) -> String {
        hasColours ? "\u{1B}[\(tone.rawValue)m\(text)\u{1B}[0m" : text
    }
}
