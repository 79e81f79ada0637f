import Chassis
import Contracts
import Kafka
import Pipeline
import Storage

/// Takes every heartbeat of ingest for what it says.
struct Listen: Stage {
    /// Why a record was none.
    enum Reason: String, StageReason {
        case undecodable
        var countsTowardsRejectionLimit: Bool { true }
    }

    func process(_ deliveries: [Delivery<IngestHeartbeat>]) -> [StageResult<IngestHeartbeat, Reason>] {
        deliveries.map { .forward($0.message) }
    }
}

/// Kafka to Postgres, where repeating is harmless: rows first, then the position.
struct Remember: Settlement {
    let heartbeats: HeartbeatStore
    let connection: WorkerConnection

    func settle(_ processed: ProcessedBatch<Listen>) async throws -> Settled {
        try await connection.producer.send(connection.rejections.records(of: processed))
        try await heartbeats.record(processed.forwarded.map(\.output))
        return try await connection.consumer.commit(processed)
    }
}
