import Bootstrap
import Chassis
import Pipeline
import Postgres
import Storage

import struct Foundation.Date
import struct Foundation.UUID

/// Deletes expired rows once a day, in one of the processes.
struct RetentionJob: Service {
    /// Retention periods.
    struct Ages: Sendable {
        var attempts: Duration
        var answers: Duration
        var deadLetters: Duration
    }

    let attempts: SendAttemptStore
    let answers: RecoveryAnswerStore
    let rejected: RejectedStore
    let items: RecoveryItemStore
    let leases: LeaseStore
    let clocks: ClockCheck
    let ages: Ages
    let newId: @Sendable () -> UUID
    let now: @Sendable () -> Date
    let liveness: LivenessProbe
    let logger: Logger
    var clock: any Clock<Duration> = ContinuousClock()

    static let lease = "recovery.retention"
    static let interval: Duration = .seconds(3600)
    /// Limit for one run.
    static let turnLimit: Duration = .seconds(1200)
    private static let day: Int64 = 86_400

    /// Until shutdown.
    func run() async throws {
        await RetryLoop(liveness: liveness, clock: clock) { error in
            logger.log(
                level: error is AppleClockIsAwaited ? .debug : .warning,
                "Could not delete expired rows; retrying", metadata: ["error": "\(error)"])
        }.run { _ in
            try await turn()
            return Self.interval
        }
    }

    /// Does nothing if a process did it within the last day.
    func turn() async throws {
        // Read before the check, and once: a later step of the clock deletes nothing.
        let moment = now()
        try await clocks.run()
        // A new holder each time: the lease records when it ran, not which process.
        let holder = newId()
        guard try await leases.acquire(Self.lease, for: holder, seconds: Self.day) else { return }
        do {
            try await forget(at: moment)
        } catch {
            try? await leases.release(Self.lease, of: holder)
            throw error
        }
    }

    private func forget(at moment: Date) async throws {
        @Sendable func ago(_ age: Duration) -> Date { moment.addingTimeInterval(-(age / .seconds(1))) }
        let expired = ExpiredRows(
            [
                ("attempts", { try await attempts.delete(attemptedBefore: ago(ages.attempts)) }),
                ("answers", { try await answers.delete(answeredBefore: ago(ages.answers)) }),
                ("rejected", { try await rejected.delete(rejectedBefore: ago(ages.deadLetters)) }),
                ("present", { try await items.deletePresent() }),
            ], logger: logger)
        if let failure = await expired.delete() { throw failure }
    }
}
