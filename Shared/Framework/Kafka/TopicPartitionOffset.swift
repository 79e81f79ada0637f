/// A position: the offset is that of the **next** record to read, not of the last one read.
public struct TopicPartitionOffset: Sendable, Hashable, CustomStringConvertible {
    /// Name of the topic.
    public var topic: String
    /// Counted from 0.
    public var partition: Int32
    /// An offset, or one of `beginning`, `end` and `committed`.
    public var offset: Int64
    /// What a group committed beside the offset, at most 4096 bytes by the broker's default; nil where that is nothing.
    public var metadata: String?

    /// Whether it exists is not checked.
    public init(topic: String, partition: Int32, offset: Int64, metadata: String? = nil) {
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.metadata = metadata
    }

    /// The same from a partition.
    public init(_ partition: TopicPartition, offset: Int64, metadata: String? = nil) {
        self.init(topic: partition.topic, partition: partition.partition, offset: offset, metadata: metadata)
    }

    /// The earliest record that the partition still has. Valid in `Consumer.assign`.
    public static let beginning: Int64 = -2
    /// What the group committed to Kafka, else where `Consumer.OffsetReset` says. Valid in `Consumer.assign`, where it may
    /// wait for ever if the coordinator moves at that moment: ask `Consumer.committed` and give its answer instead.
    public static let committed: Int64 = -1000

    /// The partition without the offset.
    public var topicPartition: TopicPartition { TopicPartition(topic: topic, partition: partition) }

    /// `topic/3@17`, as in log lines.
    public var description: String { "\(topic)/\(partition)@\(offset)" }
}
