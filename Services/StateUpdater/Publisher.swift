import Chassis
import Contracts
import Kafka
import Pipeline
import Storage

import struct Foundation.Date
import struct Foundation.UUID

/// Publishes the outbox to Kafka: sends the oldest rows, awaits every delivery report, marks them as published.
///
/// Delivery is at least once, and in order for each purchase: a publisher sends all earlier changes first, so two
/// publishers at the same time only send duplicates. The lease avoids those duplicates; correctness does not depend on it.
struct Publisher: Service {
    static let lease = "publisher"
    /// Rows of one turn.
    static let limit = 500

    let outbox: OutboxStore
    let leases: LeaseStore
    let producer: Producer
    /// Identifies this process as the holder of the lease.
    let holder: UUID
    let now: @Sendable () -> Date
    let logger: Logger
    var clock: any Clock<Duration> = ContinuousClock()
    /// Longer than a turn; after a crash the next publisher waits this long.
    var leaseSeconds: Int64 = 15
    /// How long to wait for an announcement before looking anyway.
    var idlePause: Duration = .seconds(2)
    /// How long a gap may stay open before recovery is requested: most gaps are notifications out of order.
    var patience: Duration = .seconds(300)

    /// The outcome of one turn.
    enum Turn: Equatable {
        /// Another process holds the lease and publishes.
        case leaseHeldElsewhere
        case idle
        /// How many changes and requests.
        case published(Int)
    }

    /// Publishes until the process shuts down.
    func run() async throws {
        await RetryLoop(clock: clock) { [logger] error in
            Metric.publisherRetries.counter().increment()
            logger.warning("Could not publish changes; retrying", metadata: ["error": "\(error)"])
        }.run { _ in
            var outcome = try await turn()
            guard outcome != .leaseHeldElsewhere else { return .seconds(2) }
            // The lease is renewed well before its end, and not for every change.
            let renewal = ContinuousClock.now + .seconds(leaseSeconds) / 3
            while ContinuousClock.now < renewal, !Task.isCancelled {
                switch outcome {
                case .published(Self.limit...): break
                // Under load the next turn then has more to publish.
                case .published: try await clock.sleep(for: .milliseconds(5))
                case .idle, .leaseHeldElsewhere: try await awaitAnnouncement(until: renewal)
                }
                outcome = try await publish()
            }
            return .zero
        }
        // So that the next publisher need not wait for the end of the lease.
        try? await leases.release(Self.lease, of: holder)
    }

    /// Publishes the oldest rows of the outbox where no other process does.
    func turn() async throws -> Turn {
        guard try await leases.acquire(Self.lease, for: holder, seconds: leaseSeconds) else {
            return .leaseHeldElsewhere
        }
        return try await publish()
    }

    private func publish() async throws -> Turn {
        let changes = try await outbox.changes(limit: Self.limit)
        try await producer.send(changes.map { ProducerRecord(Topics.changed, $0.message) })
        if !changes.isEmpty { try await outbox.markPublished(changes: changes.map(\.id), at: now()) }
        let due = now().addingTimeInterval(-Double(patience.components.seconds))
        let requests = try await outbox.requests(noticedBefore: due, limit: Self.limit)
        try await producer.send(requests.map { ProducerRecord(Topics.recoveryRequests, $0.message) })
        if !requests.isEmpty { try await outbox.markPublished(requests: requests.map(\.id), at: now()) }
        Metric.published.counter(Topics.changed.name).increment(by: changes.count)
        Metric.published.counter(Topics.recoveryRequests.name).increment(by: requests.count)
        return changes.isEmpty && requests.isEmpty ? .idle : .published(changes.count + requests.count)
    }

    /// Waits in short turns, so that the process can stop and the other users of the connection need not wait long.
    private func awaitAnnouncement(until renewal: ContinuousClock.Instant) async throws {
        let end = min(renewal, .now + idlePause)
        while ContinuousClock.now < end, !Task.isCancelled {
            if try await outbox.awaitAnnouncement(within: .milliseconds(250)) { return }
        }
    }
}
