import Commands
import Foundation
import Synchronization

/// Shows the progress of a long job on standard error: redrawn in place on a terminal, otherwise a line every 5 s.
final class ProgressDisplay: Sendable {
    private let isTerminal: Bool
    private let start: ContinuousClock.Instant
    private let lastShown = Mutex<ContinuousClock.Instant?>(nil)

    /// - Parameter isTerminal: nil detects it from standard error.
    init(isTerminal: Bool? = nil) {
        self.isTerminal = isTerminal ?? (isatty(STDERR_FILENO) == 1)
        start = .now
    }

    /// - Parameter isLast: shown regardless of the interval.
    func show(_ progress: ProgressLine, isLast: Bool = false) {
        var progress = progress
        progress.elapsed = .now - start
        show(isTerminal ? progress.bar() : progress.text, isLast: isLast)
    }

    /// A line without a bar.
    func show(_ text: String, isLast: Bool = false) {
        let now = ContinuousClock.now
        let isDue = lastShown.withLock { last in
            let pause: Duration = isTerminal ? .milliseconds(200) : .seconds(5)
            guard isLast || last.map({ now - $0 >= pause }) ?? true else { return false }
            last = now
            return true
        }
        guard isDue else { return }
        let text = text.escaped
        let line = isTerminal ? "\r\(text)\u{1B}[K\(isLast ? "\n" : "")" : "\(text)\n"
        try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
    }
}
