import Kafka
import Records

import struct Foundation.Date

/// Kafka to Kafka: produce outputs and dead letters, await every delivery report, then commit the batch's offsets.
///
/// A crash between the two repeats records and never loses one. A batch that failed is processed again, but what Kafka has
/// confirmed of it is not produced again.
public actor KafkaSettlement<S: Stage>: Settlement where S.Output: TopicMessage {
    private let consumer: Consumer
    private let producer: Producer
    private let output: Topic<S.Output>
    private let waiting: Route?
    private let seal: RecordSeal
    private let rejections: Rejections
    private var delivered = DeliveredOutputs()

    /// - Parameters:
    ///   - connection: of the batches.
    ///   - output: the topic of outputs.
    ///   - waiting: the topic of deferred records; a stage that defers records needs one.
    public init(_ connection: WorkerConnection, to output: Topic<S.Output>, deferringTo waiting: Route? = nil) {
        consumer = connection.consumer
        producer = connection.producer
        rejections = connection.rejections
        seal = connection.seal
        self.output = output
        self.waiting = waiting
    }

    /// ``Settled/fenced`` where the group has assigned the partitions to another member meanwhile, which repeats the batch.
    public func settle(_ processed: ProcessedBatch<S>) async throws -> Settled {
        let pending = delivered.pending(of: outputs(of: processed), revocations: await consumer.revocations)
        let failures = try await producer.deliver(pending.map(\.record))
        if let first = failures.min(by: { $0.key < $1.key }) {
            delivered.delivered(pending, except: failures)
            throw first.value
        }
        do {
            let settled = try await consumer.commit(processed)
            if settled == .settled { delivered.settled(processed.spans) }
            return settled
        } catch {
            delivered.delivered(pending, except: [:])
            throw error
        }
    }

    private func outputs(of processed: ProcessedBatch<S>) -> [StageOutput] {
        processed.forwarded.map {
            StageOutput(
                identity: .init(input: $0.record.position, isDeadLetter: false),
                record: seal.sealed(ProducerRecord(output, $0.output)))
        }
            + rejections.outputs(of: processed)
            + processed.deferred.map { record in
                guard let waiting else { preconditionFailure("a stage that defers records needs a topic for them") }
                return StageOutput(
                    identity: .init(input: record.position, isDeadLetter: false),
                    record: ProducerRecord(waiting, record.wire))
            }
    }
}

extension Consumer {
    /// Moves the group's position past a batch whose effects are durable; ``Settled/fenced`` where the group has assigned the
    /// partitions to another member meanwhile.
    public func commit(_ processed: ProcessedBatch<some Stage>) throws -> Settled {
        do {
            try commit(processed.spans.map(\.position))
            return .settled
        } catch let error as KafkaError where error.meaning == .fenced {
            return .fenced
        }
    }
}

/// Creates the dead letters of a stage.
struct Rejections: Sendable {
    private let topic: Topic<DeadLetter>
    private let stage: ServiceName
    private let build: String
    private let now: @Sendable () -> Date

    /// - Parameters:
    ///   - topic: of dead letters.
    ///   - stage: named in each dead letter.
    ///   - build: the version of this build.
    ///   - now: the clock.
    init(
        to topic: Topic<DeadLetter>, stage: ServiceName, build: String, now: @escaping @Sendable () -> Date
    ) {
        self.topic = topic
        self.stage = stage
        self.build = build
        self.now = now
    }

    /// The dead letters of a batch.
    func outputs<S: Stage>(of processed: ProcessedBatch<S>) -> [StageOutput] {
        processed.deadLetters(stage: stage.name, at: now(), build: build).map {
            StageOutput(
                identity: .init(input: $0.position, isDeadLetter: true), record: ProducerRecord(topic, $0))
        }
    }

    /// The dead letters of single items, by the item's number in the record at the dead letter's position.
    func outputs(of items: [(number: Int, deadLetter: DeadLetter)]) -> [StageOutput] {
        items.map {
            StageOutput(
                identity: .init(input: $0.deadLetter.position, isDeadLetter: true, item: $0.number),
                record: ProducerRecord(topic, $0.deadLetter))
        }
    }
}

extension ProducerRecord {
    /// The record of a message, for the topic of its type.
    public init<Message>(_ topic: Topic<Message>, _ message: Message) {
        self.init(topic.route, message.record())
    }

    /// A record, unchanged.
    public init(_ route: Route, _ record: WireRecord) {
        self.init(
            topic: route.name, key: record.key, value: record.value,
            headers: record.headers.map { RecordHeader(name: $0.name, value: $0.value) })
    }
}
