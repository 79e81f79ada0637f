import struct Foundation.Date

/// A record as it lies in the log.
public struct ConsumerRecord: Sendable, Hashable {
    /// The topic's name.
    public var topic: String
    /// Counted from 0.
    public var partition: Int32
    /// Its own, not that of the next record.
    public var offset: Int64
    /// nil if the log holds none, which only very old brokers do.
    public var timestamp: Date?
    /// nil and empty are two things.
    public var key: [UInt8]?
    /// A tombstone (a record without a value) arrives as an empty one: none of our topics is compacted.
    public var value: [UInt8]
    /// In the order they were written; names may repeat.
    public var headers: [RecordHeader]

    /// Records come from a `Consumer`; tests of others make their own.
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
