import Contracts
import Kafka
import Pipeline

/// As the pipeline's own settlement, with one more way out: what is under an unknown chain, while the budget for those is
/// used up, goes to a topic of its own, byte for byte, and is proven from there without haste.
struct VerifierSettlement: Settlement {
    let connection: WorkerConnection

    func settle(_ processed: ProcessedBatch<Verify>) async throws -> Settled {
        let verified = processed.forwarded.map { ProducerRecord(Topics.verified, $0.output) }
        try await connection.producer.send(
            verified + Self.postponed(processed) + connection.rejections.records(of: processed))
        return try await connection.consumer.commit(processed)
    }

    static func postponed(_ processed: ProcessedBatch<Verify>) -> [ProducerRecord] {
        zip(processed.batch.records, processed.results).compactMap { record, result in
            guard case .discard(.refused(.chainUnproven, _, _)) = result else { return nil }
            return ProducerRecord(
                topic: Topics.unproven.name, key: record.wire.key, value: record.wire.value,
                headers: record.wire.headers.map { RecordHeader(name: $0.name, value: $0.value) })
        }
    }
}
