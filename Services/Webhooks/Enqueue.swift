import Bootstrap
import Chassis
import Contracts
import Kafka
import Pipeline
import Records
import Storage

import struct Foundation.Date

/// Names the row of the timeline of each change. Which endpoints want it the database decides, from the row.
struct Enqueue: Stage {
    func process(_ deliveries: [Delivery<SubscriptionChanged>]) async -> [StageResult<Int64, EnqueueReason>] {
        deliveries.map { delivery in delivery.message.sequence.map { .forward($0) } ?? .discard(.unnumbered) }
    }
}

/// Why a change was not enqueued.
enum EnqueueReason: String, StageReason {
    case undecodable
    /// An older release wrote it, without the row of the timeline.
    case unnumbered

    var countsTowardsRejectionLimit: Bool { self == .undecodable }
}

/// Enqueues a batch and moves the stored Kafka offsets in one database transaction.
struct EnqueueSettlement: Settlement {
    let queue: WebhookQueueStore
    let positions: StoredPositions
    let connection: WorkerConnection
    let now: @Sendable () -> Date
    /// Called where something is to be sent.
    let enqueued: @Sendable () async -> Void
    let logger: Logger

    func settle(_ processed: ProcessedBatch<Enqueue>) async throws -> Settled {
        // Dead letters are published before the offsets move, so that no record is lost.
        try await connection.deadLetters.write(processed)
        let moves = try await positions.moves(for: processed.spans)
        switch try await queue.enqueue(processed.forwarded.map(\.output), moving: moves, at: now()) {
        case .fenced:
            return .fenced
        case .stored(let count):
            await positions.moved(moves)
            if count > 0 { await enqueued() }
            do {
                try await connection.consumer.commit(processed.spans.map(\.position))
            } catch {
                logger.debug("Could not commit offsets to Kafka; lag views are behind", metadata: ["error": "\(error)"])
            }
            return .settled
        }
    }
}
