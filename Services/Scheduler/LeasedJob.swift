import Chassis
import Pipeline
import Postgres
import Storage

import struct Foundation.UUID

/// A periodic job that one process at a time runs, or every process.
///
/// The lease only saves work: jobs are safe to run concurrently. It is short, so that a killed process is soon
/// replaced, and is renewed during and between runs.
struct LeasedJob: Service {
    /// Name in metrics and logs.
    let name: String
    /// Pause between two runs, unless the first leaves work.
    let interval: Duration
    /// Nil where every process runs the job.
    let leases: LeaseStore?
    /// Nil where turns only read.
    let clocks: ClockCheck?
    /// Identifies this process as lease holder.
    let holder: UUID
    let liveness: LivenessProbe
    let logger: Logger
    var clock: any Clock<Duration> = ContinuousClock()
    let turn: @Sendable () async throws -> Result

    /// The share of its work that a run did.
    enum Result: Sendable {
        /// The next run begins without a pause.
        case partial
        case complete
    }

    /// How long a run may take before the job counts as hung: a call to Apple may wait for a minute, and a run makes a
    /// few.
    static let turnLimit: Duration = .seconds(600)
    /// How long after a killed process another one takes over.
    static let leaseLength: Duration = .seconds(60)
    /// Leaves time for two failed renewals.
    static let renewal: Duration = .seconds(20)

    private var lease: String { "scheduler.\(name)" }

    init(
        _ name: String, every interval: Duration, leases: LeaseStore?, clocks: ClockCheck?, holder: UUID,
        health: Health, logger: Logger, turn: @escaping @Sendable () async throws -> Result
    ) {
        self.name = name
        self.interval = interval
        self.leases = leases
        self.clocks = clocks
        self.holder = holder
        self.logger = logger
        self.turn = turn
        liveness = health.livenessProbe(name, limit: interval + Self.turnLimit)
    }

    func run() async throws {
        await RetryLoop(liveness: liveness, clock: clock) { [name, logger] error in
            guard !(error is AppleClockIsAwaited) else {
                logger.debug("Job waits", metadata: ["job": "\(name)", "reason": "\(error)"])
                return
            }
            Metric.schedulerRetries.counter(name).increment()
            logger.warning("Job failed; retrying", metadata: ["job": "\(name)", "error": "\(error)"])
        }.run { _ in
            do {
                let hasLease = try await take()
                if hasLease, case .partial = try await work() { return .zero }
                // Not the retryLoop's pause, during which the lease would not be renewed.
                try await rest(for: interval, keepingLease: hasLease)
                return .zero
            } catch {
                // Another process may reach a dependency that this one does not, or have a clock that is right.
                try? await leases?.release(lease, of: holder)
                throw error
            }
        }
        // Otherwise the next process waits until the lease expires.
        try? await leases?.release(lease, of: holder)
    }

    private func take() async throws -> Bool {
        guard let leases else { return true }
        return try await leases.acquire(lease, for: holder, seconds: Self.leaseLength.components.seconds)
    }

    /// One run; renews the lease for at most `turnLimit`, so that a hung process is replaced.
    private func work() async throws -> Result {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await rest(for: Self.turnLimit, keepingLease: true) }
            try await clocks?.run()
            let result = try await turn()
            group.cancelAll()
            return result
        }
    }

    /// - Throws: on shutdown only.
    private func rest(for duration: Duration, keepingLease: Bool) async throws {
        var left = duration
        while left > .zero {
            let step = keepingLease ? min(left, Self.renewal) : left
            try await clock.sleep(for: step)
            left -= step
            // Losing the lease meanwhile is harmless: jobs are safe to run concurrently.
            if keepingLease, left > .zero { _ = try? await take() }
        }
    }
}
