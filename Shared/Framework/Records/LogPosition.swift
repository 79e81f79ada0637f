/// The place of a record in Kafka.
public struct LogPosition: Sendable, Hashable {
    /// Name of the topic.
    public var topic: String
    /// Number of the partition, from 0.
    public var partition: Int32
    /// Offset of the record itself, from 0.
    public var offset: Int64

    /// - Parameter offset: of the record itself, not of the next one.
    public init(topic: String, partition: Int32, offset: Int64) {
        self.topic = topic
        self.partition = partition
        self.offset = offset
    }
}
