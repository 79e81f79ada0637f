import Contracts
import Pipeline

/// The slower lane: verifies unknown chains, however many there are, and pauses after each batch, so that a flood of forged
/// ones takes no more than a share of one core from what is verified already.
struct VerifyDeferred: Stage {
    /// Whatever the share: a pause beyond `max.poll.interval.ms` would cost the partitions, and the batch would be repeated for
    /// ever. A batch that waits for OCSP responders takes many seconds, and none of a core.
    static let longestPause = Duration.seconds(20)

    let verify: Verify
    /// Of one core, 0 to 1.
    let share: Double
    let clock: any Clock<Duration>
    let instant: @Sendable () -> ContinuousClock.Instant

    func process(
        _ deliveries: [Delivery<ReceivedNotification>]
    ) async throws -> [StageResult<VerifiedNotification, VerifyReason>] {
        let started = instant()
        let results = try await verify.process(deliveries)
        try await clock.sleep(for: min(started.duration(to: instant()) * (1 / share - 1), Self.longestPause))
        return results
    }
}
