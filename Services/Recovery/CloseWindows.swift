import Chassis
import Pipeline
import Storage

import struct Foundation.Date

/// Tracks republished notifications and closes windows that have no pending ones.
///
/// A window closes when its notifications are in the ledger or among the dead letters, not when they were published.
/// Safe to run in several processes.
struct CloseWindows: Service {
    let items: RecoveryItemStore
    let windows: RecoveryWindowStore
    let now: @Sendable () -> Date
    let liveness: LivenessProbe
    let logger: Logger
    var clock: any Clock<Duration> = ContinuousClock()

    /// Limit for one run and the pause after it; statements have their own timeouts.
    static let turnLimit: Duration = .seconds(600)

    /// Until shutdown.
    func run() async throws {
        await RetryLoop(liveness: liveness, clock: clock) { error in
            logger.warning(
                "Could not check which windows of Apple's history are recovered; retrying",
                metadata: ["error": "\(error)"])
        }.run { isRestart in
            // Cleans up after a killed process or a failed run.
            if isRestart { _ = try await items.deletePresent() }
            let duration = try await clock.measure { _ = try await turn() }
            // Uses at most a tenth of the time, with at most 30 s between two runs.
            return min(max(.seconds(1), duration * 9), .seconds(30))
        }
    }

    /// - Returns: the number of closed windows.
    func turn() async throws -> Int {
        defer { liveness.beat() }
        let settled = try await items.settle(at: now())
        if settled.arrived > 0 { Metric.recovered.counter("arrived").increment(by: Int(clamping: settled.arrived)) }
        if settled.rejected > 0 { Metric.recovered.counter("rejected").increment(by: Int(clamping: settled.rejected)) }
        let seen = try await windows.seenThroughout()
        let waiting = try await items.waiting(among: seen)
        let closed = try await windows.close(seen.filter { !waiting.contains($0) }, at: now())
        try await items.deletePresent(of: closed)
        Metric.windowsClosed.counter().increment(by: closed.count)
        return closed.count
    }
}
