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

    /// Every partition of a topic that has so many.
    public static func all(of topic: String, count: Int) -> [TopicPartition] {
        (0..<Int32(clamping: count)).map { TopicPartition(topic: topic, partition: $0) }
    }

    /// Orders by topic, then by number.
    public static func < (left: Self, right: Self) -> Bool {
        (left.topic, left.partition) < (right.topic, right.partition)
    }

    /// `topic/3`, as in log lines.
    public var description: String { "\(topic)/\(partition)" }
}
