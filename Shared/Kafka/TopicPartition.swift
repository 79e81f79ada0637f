/// One partition of one topic.
public struct TopicPartition: Sendable, Hashable, Comparable, CustomStringConvertible {
    public var topic: String
    public var partition: Int32

    public init(topic: String, partition: Int32) {
        self.topic = topic
        self.partition = partition
    }

    public static func < (left: Self, right: Self) -> Bool {
        (left.topic, left.partition) < (right.topic, right.partition)
    }

    /// `topic/3`, as log lines show it.
    public var description: String { "\(topic)/\(partition)" }
}
