import Chassis
import Pipeline
import Storage

import struct Foundation.Date
import struct Foundation.UUID

/// Forgets once a day what nobody asks for any more, in one of the processes.
struct Tidy: Service {
    /// How long things are kept.
    struct Ages: Sendable {
        var attempts: Duration
        var answers: Duration
        var letters: Duration
    }

    let attempts: SendAttemptStore
    let answers: RecoveryAnswerStore
    let rejected: RejectedStore
    let items: RecoveryItemStore
    let leases: LeaseStore
    let ages: Ages
    let newId: @Sendable () -> UUID
    let now: @Sendable () -> Date
    let liveness: LivenessProbe
    let logger: Logger
    var clock: any Clock<Duration> = ContinuousClock()

    static let lease = "recovery.tidy"
    static let interval: Duration = .seconds(3600)
    /// What a turn may take beside its interval.
    static let turnLimit: Duration = .seconds(1200)
    private static let day: Int64 = 86_400

    /// Until the process is told to stop.
    func run() async throws {
        await RetryLoop(liveness: liveness, clock: clock) { error in
            logger.warning("Old rows stay for now; it will be tried again", metadata: ["error": "\(error)"])
        }.run { _ in
            try await turn()
            return Self.interval
        }
    }

    /// Does nothing where somebody did it within a day.
    func turn() async throws {
        // A new holder each time: the lease says when it was done, not by whom.
        let holder = newId()
        guard try await leases.take(Self.lease, for: holder, seconds: Self.day) else { return }
        do {
            try await forget()
        } catch {
            try? await leases.give(Self.lease, of: holder)
            throw error
        }
    }

    private func forget() async throws {
        func ago(_ age: Duration) -> Date { now().addingTimeInterval(-(age / .seconds(1))) }
        let forgotten = [
            "attempts": try await attempts.forget(attemptedBefore: ago(ages.attempts)),
            "answers": try await answers.forget(answeredBefore: ago(ages.answers)),
            "rejected": try await rejected.forget(refusedBefore: ago(ages.letters)),
            "present": try await items.forgetPresent(),
        ]
        logger.debug("Old rows were forgotten", metadata: forgotten.mapValues { "\($0)" })
    }
}
