import Chassis
import Pipeline
import Postgres
import Storage

import struct Foundation.Date

/// Tells of access that ended by the clock and of which no notification told in time, see `AccessEndStore`.
struct AnnounceEnds: Service {
    let ends: AccessEndStore
    /// By a clock that is ahead access would end too early, and nothing would tell of what ends until that time.
    let clocks: ClockCheck
    /// How long after an end a notification about it is waited for.
    let patience: Duration
    let now: @Sendable () -> Date
    let logger: Logger
    var clock: any Clock<Duration> = ContinuousClock()

    /// Announces until the process shuts down.
    func run() async throws {
        await RetryLoop(clock: clock) { [logger] error in
            logger.warning("Could not announce ends of access; retrying", metadata: ["error": "\(error)"])
        }.run { _ in
            try await turn() ? .zero : .seconds(5)
        }
    }

    /// Announces the next ends.
    /// - Returns: whether there may be more.
    func turn() async throws -> Bool {
        try await clocks.run()
        let seconds = Double(patience.components.seconds)
        guard let batch = try await ends.next(patience: seconds, at: now()) else { return false }
        if batch.told > 0 {
            logger.info(
                "Access ended and Apple sent nothing about it; ACCESS_ENDED is published",
                metadata: ["purchases": "\(batch.told)"])
        }
        return true
    }
}
