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
        var countsTowardsPoisonLimit: Bool { true }
    }

    func judge(_ deliveries: [Delivery<IngestHeartbeat>]) -> [Verdict<IngestHeartbeat, Reason>] {
        deliveries.map { .forward($0.message) }
    }
}

/// Kafka to Postgres, where repeating is harmless: rows first, then the position.
struct Remember: Settlement {
    let heartbeats: HeartbeatStore
    let connection: WorkerConnection

    func settle(_ judged: Judged<Listen>) async throws -> Settled {
        try await connection.producer.send(connection.refusals.records(of: judged))
        try await heartbeats.record(judged.forwarded.map(\.output))
        return try await connection.consumer.commit(judged)
    }
}
