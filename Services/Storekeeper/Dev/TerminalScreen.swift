import Foundation

/// Where the live view appears: redrawn in place on a terminal, plain lines elsewhere.
struct TerminalScreen {
    let isTerminal: Bool
    private var height = 0

    init() { isTerminal = isatty(STDOUT_FILENO) == 1 }

    /// Columns of the terminal; 100 where there is none.
    var width: Int {
        var size = winsize()
        guard isTerminal, ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 100 }
        return Int(size.ws_col)
    }

    /// Puts a frame in the place of the one before it.
    mutating func draw(_ lines: [String]) {
        let up = height > 0 ? "\u{1B}[\(height)A" : ""
        let text = lines.map { $0 + "\u{1B}[K\n" }.joined()
        // What is left below of a taller frame goes too.
        write(up + text + "\u{1B}[J")
        height = lines.count
    }

    /// Writes a line that stays.
    mutating func say(_ line: String) {
        write(line + "\n")
        height = 0
    }

    /// A write that fails (nobody reads any more) is no reason to stop the line.
    private func write(_ text: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
    }
}
