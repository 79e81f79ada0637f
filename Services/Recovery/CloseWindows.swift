import Chassis
import Pipeline
import Storage

import struct Foundation.Date

/// Looks what became of all that was put back on the line, and closes the windows that wait for nothing any more.
///
/// A window closes when its notifications are in the ledger or refused by name, not when they were published. Any number of
/// processes may do it at once.
struct CloseWindows: Service {
    let items: RecoveryItemStore
    let windows: RecoveryWindowStore
    let now: @Sendable () -> Date
    let liveness: LivenessProbe
    let logger: Logger
    var clock: any Clock<Duration> = ContinuousClock()

    /// What a turn takes at most while all is well, with the pause after it: the statements have a limit of their own.
    static let turnLimit: Duration = .seconds(600)

    /// Until the process is told to stop.
    func run() async throws {
        await RetryLoop(liveness: liveness, clock: clock) { error in
            logger.warning("No window was closed; it will be tried again", metadata: ["error": "\(error)"])
        }.run { beginsAnew in
            // What a process that was killed, or a turn that failed, left behind.
            if beginsAnew { _ = try await items.forgetPresent() }
            let duration = try await clock.measure { _ = try await turn() }
            // A look at very many is not to take more than a tenth of the database's time, as long as nobody waits half a
            // minute for that.
            return min(max(.seconds(1), duration * 9), .seconds(30))
        }
    }

    /// How many windows were closed.
    func turn() async throws -> Int {
        defer { liveness.beat() }
        let settled = try await items.settle(at: now())
        if settled.arrived > 0 { Metric.recovered.counter("arrived").increment(by: Int(clamping: settled.arrived)) }
        if settled.refused > 0 { Metric.recovered.counter("refused").increment(by: Int(clamping: settled.refused)) }
        let seen = try await windows.seenThroughout()
        let waiting = try await items.waiting(among: seen)
        let closed = try await windows.close(seen.filter { !waiting.contains($0) }, at: now())
        try await items.forgetPresent(of: closed)
        Metric.windowsClosed.counter().increment(by: closed.count)
        return closed.count
    }
}
