import Kafka
import Records

/// Writes the dead letters of a worker whose effects are elsewhere than in Kafka, such as in a database.
///
/// Call it before the position moves. Where what follows fails, the batch is processed again, for as long as the database
/// is away; a dead letter that Kafka has confirmed is not written again, so that one bad record does not become hundreds.
public actor DeadLetterWriter {
    private let consumer: Consumer
    private let producer: Producer
    private let rejections: Rejections
    private var delivered = DeliveredOutputs()

    init(of consumer: Consumer, to producer: Producer, _ rejections: Rejections) {
        self.consumer = consumer
        self.producer = producer
        self.rejections = rejections
    }

    /// Returns when Kafka has confirmed the dead letters of the batch, now or before.
    /// - Parameter items: dead letters of single items of forwarded records, each by its number in its record, which is the
    ///   same at each attempt.
    /// - Throws: `KafkaError`, `CancellationError`.
    public func write<S: Stage>(
        _ processed: ProcessedBatch<S>, items: [(number: Int, deadLetter: DeadLetter)] = []
    ) async throws {
        // A batch begins behind what is settled.
        delivered.settled(processed.spans.map { Span(partition: $0.partition, first: $0.first, next: $0.first) })
        let outputs = rejections.outputs(of: processed) + rejections.outputs(of: items)
        guard !outputs.isEmpty else { return }
        let pending = delivered.pending(of: outputs, revocations: await consumer.revocations)
        let failures = try await producer.deliver(pending.map(\.record))
        delivered.delivered(pending, except: failures)
        if let first = failures.min(by: { $0.key < $1.key }) { throw first.value }
    }
}
