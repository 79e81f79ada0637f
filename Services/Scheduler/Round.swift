import Chassis
import Pipeline
import Storage

import struct Foundation.UUID

/// A job that is done again and again, by one process at a time.
///
/// The lease spares work and is not needed for more: each job holds its own against another of its kind.
struct Round: LongRunning {
    /// In metrics and logs.
    let name: String
    /// Between the end of a turn and the next one.
    let interval: Duration
    let leases: LeaseStore
    /// Names this process to the lease.
    let holder: UUID
    let pulse: Pulse
    let logger: Logger
    var clock: any Clock<Duration> = ContinuousClock()
    let turn: @Sendable () async throws -> Void

    /// How long a turn may take before the loop counts as hung, beside its interval: a call to Apple waits for a minute,
    /// and a turn makes a few.
    static let turnLimit: Duration = .seconds(600)

    private var lease: String { "scheduler.\(name)" }

    init(
        _ name: String, every interval: Duration, leases: LeaseStore, holder: UUID, health: Health, logger: Logger,
        turn: @escaping @Sendable () async throws -> Void
    ) {
        self.name = name
        self.interval = interval
        self.leases = leases
        self.holder = holder
        self.logger = logger
        self.turn = turn
        pulse = health.pulse(name, limit: interval + Self.turnLimit)
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var backoff = Backoff()
            var generator = SystemRandomNumberGenerator()
            while !Task.isCancelled {
                pulse.beat()
                do {
                    let seconds = (interval * 2 + Self.turnLimit).components.seconds
                    if try await leases.take(lease, for: holder, seconds: seconds) { try await turn() }
                    backoff.reset()
                    try? await clock.sleep(for: interval)
                } catch is CancellationError {
                    return
                } catch {
                    Metric.schedulerRetries.counter(name).increment()
                    logger.warning("It will be tried again", metadata: ["job": "\(name)", "error": "\(error)"])
                    try? await clock.sleep(for: backoff.next(using: &generator))
                }
            }
        }
        // Else the next one waits until it ends.
        try? await leases.give(lease, of: holder)
    }
}
