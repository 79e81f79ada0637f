import Foundation
import UnixSignals

/// Ctrl-C, SIGTERM and the closing of the terminal as an error: whatever is under way unwinds and cleans up on the same
/// path as after a failure.
struct Interruption: Error, CustomStringConvertible {
    var description: String { "interrupted" }

    /// A signal that comes this soon after the first is the same wish: `timeout` sends two.
    private static let patience: Duration = .seconds(1)

    /// Runs `work` until it ends or a signal comes; a signal cancels it, and waits until it has cleaned up. A second
    /// signal ends the process at once: the kernel then ends what it started, and only temporary files are left.
    ///
    /// - Throws: what `work` throws, or `Interruption`.
    static func interrupting<Result: Sendable>(
        _ work: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
        let working = Task { try await work() }
        let watching = Task {
            var first: ContinuousClock.Instant?
            for await _ in signals {
                if let first, ContinuousClock.now - first > patience { exit(130) }
                first = first ?? .now
                working.cancel()
            }
            return first != nil
        }
        let result = await withTaskCancellationHandler {
            await working.result
        } onCancel: {
            working.cancel()
        }
        watching.cancel()
        if await watching.value { throw Interruption() }
        return try result.get()
    }
}
