import Kafka
import Records

import struct Foundation.Date

/// One record as a source returned it.
public struct Delivery<Message: Sendable>: Sendable {
    /// The message of the record.
    public var message: Message
    /// Its place in Kafka.
    public var position: LogPosition

    /// - Parameter position: of the record that holds the message.
    public init(message: Message, position: LogPosition) {
        self.message = message
        self.position = position
    }
}

/// Records read in one turn, not yet processed.
public struct Batch: Sendable {
    /// A record and its place.
    public struct Record: Sendable {
        /// Key, value and headers.
        public var wire: WireRecord
        /// Its place in Kafka.
        public var position: LogPosition
        /// When the broker stored it, by the broker's clock; nil where the broker does not say.
        public var timestamp: Date?

        /// - Parameter timestamp: the broker's.
        public init(wire: WireRecord, position: LogPosition, timestamp: Date?) {
            self.wire = wire
            self.position = position
            self.timestamp = timestamp
        }
    }

    /// In the order they were read.
    public let records: [Record]
    /// How often the worker processed since it last settled, this time included. Shown in dead letters.
    public var attempt: Int
    /// What to store with the position of each partition once the batch is settled, see ``PositionEvidence``.
    public var evidence: [TopicPartition: PositionEvidence] = [:]

    /// - Parameter attempt: from 1.
    public init(records: [Record], attempt: Int = 1) {
        self.records = records
        self.attempt = attempt
    }

    /// The only way to create a ``ProcessedBatch``, so there is one result for every record.
    ///
    /// Records that are not the stage's message never reach it, nor do records that need a seal and have no valid one.
    public func processed<S: Stage>(by stage: S, seal: RecordSeal = RecordSeal()) async throws -> ProcessedBatch<S>
    where S.Input: TopicMessage {
        var results: [StageResult<S.Output, S.Reason>?] = []
        var deliveries: [Delivery<S.Input>] = []
        for record in records {
            guard seal.isValid(record.wire) || !S.Input.needsSeal(record.wire) else {
                results.append(.deadLetter(.undecodable, message: RecordSeal.rejection))
                continue
            }
            do throws(ContractFault) {
                deliveries.append(Delivery(message: try S.Input(record.wire), position: record.position))
                results.append(nil)
            } catch {
                results.append(.deadLetter(.undecodable, message: error.description))
            }
        }
        let processed = deliveries.isEmpty ? [] : try await stage.process(deliveries)
        precondition(processed.count == deliveries.count, "a stage returns one result per delivery")
        var next = processed.makeIterator()
        return ProcessedBatch(batch: self, results: results.map { $0 ?? next.next() }.compactMap { $0 })
    }
}

/// A batch and the result on each of its records.
public struct ProcessedBatch<S: Stage>: Sendable {
    /// What was processed.
    public let batch: Batch
    /// As many as there are records, in their order.
    public let results: [StageResult<S.Output, S.Reason>]

    fileprivate init(batch: Batch, results: [StageResult<S.Output, S.Reason>]) {
        self.batch = batch
        self.results = results
    }

    /// The outputs, with the records that they came from.
    public var forwarded: [(record: Batch.Record, output: S.Output)] {
        zip(batch.records, results).compactMap { record, result in
            guard case .forward(let output) = result else { return nil }
            return (record, output)
        }
    }

    /// Those of the batch that go to the topic of dead letters.
    public func deadLetters(stage: String, at date: Date, build: String) -> [DeadLetter] {
        zip(batch.records, results).compactMap { record, result in
            guard case .deadLetter(let reason, let message) = result else { return nil }
            return DeadLetter(
                original: record.wire, stage: stage, reason: reason.rawValue, message: message,
                position: record.position, rejectedAt: date, attempts: batch.attempt, build: build)
        }
    }

    /// Deferred records, which wait in another topic, byte for byte.
    public var deferred: [Batch.Record] {
        zip(batch.records, results).compactMap { record, result in
            guard case .discard(let reason) = result, reason.isDeferred else { return nil }
            return record
        }
    }

    /// For each partition of the batch, its first offset and the offset after its last, sorted by topic and partition.
    public var spans: [Span] {
        var spans: [TopicPartition: Span] = [:]
        for record in batch.records {
            let key = TopicPartition(topic: record.position.topic, partition: record.position.partition)
            let next = record.position.offset + 1
            spans[
                key,
                default: Span(
                    partition: key, first: record.position.offset, next: next, evidence: batch.evidence[key])
            ].next = next
        }
        return spans.values.sorted { $0.partition < $1.partition }
    }
}

/// The range of one partition that a batch covers.
public struct Span: Sendable, Hashable {
    /// Partition in which the records are.
    public var partition: TopicPartition
    /// Offset of the first record.
    public var first: Int64
    /// Offset after the last record: where reading continues.
    public var next: Int64
    /// Stored with `next`; nil where the source knows none.
    public var evidence: PositionEvidence?

    /// From the first record to after the last.
    public init(partition: TopicPartition, first: Int64, next: Int64, evidence: PositionEvidence? = nil) {
        self.partition = partition
        self.first = first
        self.next = next
        self.evidence = evidence
    }

    /// Where reading continues, with the evidence.
    public var position: TopicPartitionOffset {
        TopicPartitionOffset(partition, offset: next, metadata: evidence?.text)
    }
}
