import struct Foundation.Date

/// A record to write to a topic.
///
/// There is no partition to choose: the key decides, so that one worker gets everything about one key, and a record
/// without a key goes anywhere.
public struct ProducerRecord: Sendable, Hashable {
    /// The topic's name; it must exist.
    public var topic: String
    /// Nil and empty are different: nil spreads over all partitions, empty goes to one.
    public var key: [UInt8]?
    /// At most `message.max.bytes` (2 MB) with key and headers, before compression.
    public var value: [UInt8]
    /// Written in this order; names may repeat.
    public var headers: [RecordHeader]
    /// Nil lets the client set it when the record is enqueued. Kafka keeps milliseconds.
    public var timestamp: Date?

    /// Nothing is checked before the record is sent.
    public init(
        topic: String, key: [UInt8]?, value: [UInt8], headers: [RecordHeader] = [], timestamp: Date? = nil
    ) {
        self.topic = topic
        self.key = key
        self.value = value
        self.headers = headers
        self.timestamp = timestamp
    }
}
