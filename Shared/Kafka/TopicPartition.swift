/// One partition of one topic.
public struct TopicPartition: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Name of the topic.
    public var topic: String
    /// Counted from 0.
    public var partition: Int32

    /// Whether it exists is not checked.
    public init(topic: String, partition: Int32) {
        self.topic = topic
        self.partition = partition
    }

    /// By topic, then by number.
    public static func < (left: Self, right: Self) -> Bool {
        (left.topic, left.partition) < (right.topic, right.partition)
    }

    /// `topic/3`, as in log lines.
    public var description: String { "\(topic)/\(partition)" }
}
