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
            logger.warning("Could not delete expired rows; retrying", metadata: ["error": "\(error)"])
        }.run { _ in
            try await turn()
            return Self.interval
        }
    }

    /// Does nothing if a process did it within the last day.
    func turn() async throws {
        try await clocks.run()
        // A new holder each time: the lease records when it ran, not which process.
        let holder = newId()
        guard try await leases.acquire(Self.lease, for: holder, seconds: Self.day) else { return }
        do {
            try await forget()
        } catch {
            try? await leases.release(Self.lease, of: holder)
            throw error
        }
    }

    /// Each kind by itself: one that cannot be deleted, as where a statement reaches its time limit, keeps back no
    /// other.
    private func forget() async throws {
        @Sendable func ago(_ age: Duration) -> Date { now().addingTimeInterval(-(age / .seconds(1))) }
        let kinds: [(name: String, delete: @Sendable () async throws -> Int)] = [
            ("attempts", { try await attempts.delete(attemptedBefore: ago(ages.attempts)) }),
            ("answers", { try await answers.delete(answeredBefore: ago(ages.answers)) }),
            ("rejected", { try await rejected.delete(rejectedBefore: ago(ages.deadLetters)) }),
            ("present", { try await items.deletePresent() }),
        ]
        var deleted: Logger.Metadata = [:]
        var failure: (any Error)?
        for kind in kinds {
            do {
                let count = try await kind.delete()
                deleted[kind.name] = "\(count)"
            } catch { failure = failure ?? error }
        }
        logger.debug("Expired rows deleted", metadata: deleted)
        if let failure { throw failure }
    }
}
