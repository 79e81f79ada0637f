import struct Foundation.Date

/// A record as it lies in the log.
public struct ConsumerRecord: Sendable, Hashable {
    public var topic: String
    public var partition: Int32
    public var offset: Int64
    /// nil if the log holds none, which only very old brokers do.
    public var timestamp: Date?
    public var key: [UInt8]?
    /// A tombstone (a record without a value) arrives as an empty one: none of our topics is compacted.
    public var value: [UInt8]
    public var headers: [RecordHeader]

    public init(
        topic: String, partition: Int32, offset: Int64, timestamp: Date?, key: [UInt8]?, value: [UInt8],
        headers: [RecordHeader]
    ) {
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.timestamp = timestamp
        self.key = key
        self.value = value
        self.headers = headers
    }

    /// Where the record came from.
    public var topicPartition: TopicPartition { TopicPartition(topic: topic, partition: partition) }
}
