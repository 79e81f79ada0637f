import Chassis
import Contracts
import Kafka
import Pipeline
import Storage

import struct Foundation.Date
import struct Foundation.UUID

/// Puts on the log what the one transaction wants published: sends the oldest, awaits every report, marks them.
///
/// At least once, of one purchase in order: whoever publishes sends everything before a change first, so even two at the
/// same time only repeat. The lease spares the repetitions and is not needed for more.
struct Publisher: Service {
    static let lease = "publisher"

    let outbox: OutboxStore
    let leases: LeaseStore
    let producer: Producer
    /// Names this process to the lease.
    let holder: UUID
    let now: @Sendable () -> Date
    let logger: Logger
    var clock: any Clock<Duration> = ContinuousClock()
    /// Longer than a turn, and the wait after a publisher died.
    var leaseSeconds: Int64 = 15
    /// How long a gap may stay open before Apple is asked: most are notifications that overtook each other.
    var patience: Duration = .seconds(300)

    /// What a turn came to.
    enum Turn: Equatable {
        /// Another one publishes.
        case elsewhere
        case idle
        case published(Int)
    }

    /// Until the process is told to stop.
    func run() async throws {
        await RetryLoop(clock: clock) { [logger] error in
            Metric.publisherRetries.counter().increment()
            logger.warning("Nothing was published; it will be tried again", metadata: ["error": "\(error)"])
        }.run { _ in
            switch try await turn() {
            // Only what was published is a reason to look again at once.
            case .published: .zero
            case .idle: .milliseconds(200)
            case .elsewhere: .seconds(2)
            }
        }
        // Else the next one waits until it ends.
        try? await leases.give(Self.lease, of: holder)
    }

    /// Publishes the oldest of what waits.
    func turn() async throws -> Turn {
        guard try await leases.take(Self.lease, for: holder, seconds: leaseSeconds) else { return .elsewhere }
        let changes = try await outbox.changes()
        try await producer.send(changes.map { ProducerRecord(Topics.changed, $0.message) })
        if !changes.isEmpty { try await outbox.markPublished(changes: changes.map(\.id), at: now()) }
        let due = now().addingTimeInterval(-Double(patience.components.seconds))
        let requests = try await outbox.requests(noticedBefore: due)
        try await producer.send(requests.map { ProducerRecord(Topics.recoveryRequests, $0.message) })
        if !requests.isEmpty { try await outbox.markPublished(requests: requests.map(\.id), at: now()) }
        Metric.published.counter(Topics.changed.name).increment(by: changes.count)
        Metric.published.counter(Topics.recoveryRequests.name).increment(by: requests.count)
        return changes.isEmpty && requests.isEmpty ? .idle : .published(changes.count + requests.count)
    }
}
