import struct Foundation.Date

/// A record of a topic.
public struct ConsumerRecord: Sendable, Hashable {
    /// Name of the topic that it was read from.
    public var topic: String
    /// Counted from 0.
    public var partition: Int32
    /// Its own offset, not that of the next record.
    public var offset: Int64
    /// Nil if the record has none, which only very old brokers allow.
    public var timestamp: Date?
    /// Nil and empty are different keys.
    public var key: [UInt8]?
    /// A tombstone (a record without a value) arrives as an empty value: none of the topics is compacted.
    public var value: [UInt8]
    /// In the order they were written; names may repeat.
    public var headers: [RecordHeader]

    /// Records come from a `Consumer`; tests of others create their own.
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

    /// The partition of the record.
    public var topicPartition: TopicPartition { TopicPartition(topic: topic, partition: partition) }

    /// Bytes of key, value and headers.
    var byteCount: Int {
        headers.reduce((key?.count ?? 0) + value.count) { $0 + $1.name.utf8.count + $1.value.count }
    }
}
