import Chassis
import Pipeline
import Storage

import struct Foundation.UUID

/// A job that is done again and again, by one process at a time, or by each for itself.
///
/// The lease spares work and is not needed for more: each job holds its own against another of its kind. It is short, so
/// that who is killed is soon replaced, and renewed while the job is done and between its turns.
struct LeasedJob: Service {
    /// In metrics and logs.
    let name: String
    /// Between the end of a turn and the next one.
    let interval: Duration
    /// Nil where each process does it.
    let leases: LeaseStore?
    /// Names this process to the lease.
    let holder: UUID
    let liveness: LivenessProbe
    let logger: Logger
    var clock: any Clock<Duration> = ContinuousClock()
    let turn: @Sendable () async throws -> Void

    /// How long a turn may take before the loop counts as hung, beside its interval: a call to Apple waits for a minute,
    /// and a turn makes a few.
    static let turnLimit: Duration = .seconds(600)
    /// How long the job waits for a process that was killed, beside the job's interval.
    static let leaseLength: Duration = .seconds(60)
    /// Leaves time for two that fail.
    static let renewal: Duration = .seconds(20)

    private var lease: String { "scheduler.\(name)" }

    init(
        _ name: String, every interval: Duration, leases: LeaseStore?, holder: UUID, health: Health, logger: Logger,
        turn: @escaping @Sendable () async throws -> Void
    ) {
        self.name = name
        self.interval = interval
        self.leases = leases
        self.holder = holder
        self.logger = logger
        self.turn = turn
        liveness = health.livenessProbe(name, limit: interval + Self.turnLimit)
    }

    func run() async throws {
        await RetryLoop(liveness: liveness, clock: clock) { [name, logger] error in
            Metric.schedulerRetries.counter(name).increment()
            logger.warning("It will be tried again", metadata: ["job": "\(name)", "error": "\(error)"])
        }.run { _ in
            do {
                let isOurs = try await take()
                if isOurs { try await work() }
                // Not the retryLoop's pause, in which nobody would keep the lease.
                try await rest(for: interval, keepingLease: isOurs)
                return .zero
            } catch {
                // Another one may reach what this one does not.
                try? await leases?.give(lease, of: holder)
                throw error
            }
        }
        // Else the next one waits until it ends.
        try? await leases?.give(lease, of: holder)
    }

    private func take() async throws -> Bool {
        guard let leases else { return true }
        return try await leases.take(lease, for: holder, seconds: Self.leaseLength.components.seconds)
    }

    /// A turn, the lease of which is renewed for as long as a turn may take: who hangs is replaced.
    private func work() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await rest(for: Self.turnLimit, keepingLease: true) }
            try await turn()
            group.cancelAll()
        }
    }

    /// - Throws: only where the process is told to stop.
    private func rest(for duration: Duration, keepingLease: Bool) async throws {
        var left = duration
        while left > .zero {
            let nap = keepingLease ? min(left, Self.renewal) : left
            try await clock.sleep(for: nap)
            left -= nap
            // A lease that is lost meanwhile is nothing that a turn has to know.
            if keepingLease, left > .zero { _ = try? await take() }
        }
    }
}
