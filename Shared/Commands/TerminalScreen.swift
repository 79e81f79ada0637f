import Foundation

/// Standard output of a live view: redrawn in place on a terminal, otherwise plain lines.
package struct TerminalScreen {
    package let isTerminal: Bool
    private var height = 0

    package init() { isTerminal = isatty(STDOUT_FILENO) == 1 }

    /// Columns of the terminal; 100 where there is none.
    package var width: Int {
        var size = winsize()
        guard isTerminal, ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 100 }
        return Int(size.ws_col)
    }

    /// Replaces the previous frame.
    package mutating func draw(_ lines: [String]) {
        let up = height > 0 ? "\u{1B}[\(height)A" : ""
        let text = lines.map { $0 + "\u{1B}[K\n" }.joined()
        // Clears the rest of a taller frame.
        write(up + text + "\u{1B}[J")
        height = lines.count
    }

    /// Writes a permanent line.
    package mutating func say(_ line: String) {
        write(line + "\n")
        height = 0
    }

    /// Ignores failures: a closed standard output must not stop the services.
    private func write(_ text: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
    }
}
