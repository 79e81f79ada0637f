import Chassis
import Contracts
import Kafka
import Pipeline
import Storage

/// Forwards every heartbeat of ingest.
struct ReadHeartbeats: Stage {
    /// Why a record is not a heartbeat.
    enum Reason: String, StageReason {
        case undecodable
        var countsTowardsRejectionLimit: Bool { true }
    }

    func process(_ deliveries: [Delivery<IngestHeartbeat>]) -> [StageResult<IngestHeartbeat, Reason>] {
        deliveries.map { .forward($0.message) }
    }
}

/// Stores heartbeats, then commits the offset; repeating is harmless.
struct StoreHeartbeats: Settlement {
    let heartbeats: HeartbeatStore
    let connection: WorkerConnection

    func settle(_ processed: ProcessedBatch<ReadHeartbeats>) async throws -> Settled {
        try await connection.deadLetters.write(processed)
        try await heartbeats.record(processed.forwarded.map(\.output))
        return try await connection.consumer.commit(processed)
    }
}
