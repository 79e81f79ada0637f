import Kafka
import Records

/// A record to produce, and the record that it came from.
struct StageOutput: Sendable {
    /// Names the output among all outputs of a worker: the same input may lead to another kind of output at the next attempt,
    /// which is not delivered yet.
    struct Identity: Sendable, Hashable {
        var input: LogPosition
        var isDeadLetter: Bool
        /// The number of the item that it is about, where one input leads to several outputs.
        var item: Int?
    }

    var identity: Identity
    var record: ProducerRecord
}

/// Remembers which outputs of a failed batch Kafka has confirmed, so that the next attempt produces the others only.
///
/// Of one process and one assignment: the next reader of the records after a crash or a rebalance produces all of them again.
struct DeliveredOutputs {
    /// A lost entry only repeats records.
    static let capacity = 100_000

    private var identities: Set<StageOutput.Identity> = []
    private var revocations = 0

    /// What is still to be produced.
    mutating func pending(of outputs: [StageOutput], revocations: Int) -> [StageOutput] {
        if self.revocations != revocations { identities = [] }
        self.revocations = revocations
        guard !identities.isEmpty else { return outputs }
        return outputs.filter { !identities.contains($0.identity) }
    }

    /// - Parameter failures: the outputs that are not confirmed, by their place.
    mutating func delivered(_ outputs: [StageOutput], except failures: [Int: any Error]) {
        if identities.count + outputs.count > Self.capacity { identities = [] }
        for (index, output) in outputs.enumerated() where failures[index] == nil { identities.insert(output.identity) }
    }

    /// The position has moved past these records.
    mutating func settled(_ spans: [Span]) {
        guard !identities.isEmpty else { return }
        let next = Dictionary(uniqueKeysWithValues: spans.map { ($0.partition, $0.next) })
        identities = identities.filter {
            guard let next = next[TopicPartition(topic: $0.input.topic, partition: $0.input.partition)] else {
                return true
            }
            return $0.input.offset >= next
        }
    }
}
