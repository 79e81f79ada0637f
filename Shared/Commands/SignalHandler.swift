import Foundation
import UnixSignals

/// A command was stopped by SIGINT, SIGTERM or SIGHUP.
package struct Interrupted: Error, CustomStringConvertible {
    package init() {}

    package var description: String { "interrupted" }
}

/// Turns SIGINT (Ctrl-C), SIGTERM and SIGHUP (the terminal closed) into cancellation, so that an interrupted command
/// cleans up on the same path as a failed one.
package enum SignalHandler {
    /// A second signal this soon after the first is a repetition of it: `timeout` sends two.
    private static let patience: Duration = .seconds(1)

    /// Runs `work`. A signal cancels it; this then waits until `work` has cleaned up. A second signal exits the process
    /// at once: the kernel then kills its children, and only temporary files remain.
    ///
    /// - Throws: what `work` throws, or `Interrupted` after a signal.
    package static func cancellingOnSignal<Result: Sendable>(
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
        if await watching.value { throw Interrupted() }
        return try result.get()
    }
}
