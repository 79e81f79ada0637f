import Contracts
import Foundation
import Kafka
import Operations
import Records

/// A record as `storekeeper records show` prints it.
struct ShownRecord: Encodable {
    var topic: String
    var partition: Int32
    var offset: Int64
    var writtenAt: Date?
    var key: String?
    var headers: [Header]
    /// Of the value.
    var bytes: Int
    /// JSON; nil where it is none. Printed as the payload.
    var value: [UInt8]?

    struct Header: Encodable {
        var name: String
        /// In hexadecimal where it is no text.
        var value: String
    }

    enum CodingKeys: CodingKey { case topic, partition, offset, writtenAt, key, headers, bytes }

    init(_ record: ConsumerRecord) {
        (topic, partition, offset) = (record.topic, record.partition, record.offset)
        writtenAt = record.timestamp
        key = record.key.map(Self.text)
        headers = record.headers.map { Header(name: $0.name, value: Self.text($0.value)) }
        bytes = record.value.count
        value =
            [Topics.verified.name, Topics.unique.name].contains(record.topic)
            ? try? VerifiedNotification(WireRecord(record)).json
            : DeadLetterContents.json(in: record.value)
    }

    private static func text(_ bytes: [UInt8]) -> String {
        String(validating: bytes, as: UTF8.self) ?? bytes.map { String(format: "%02x", $0) }.joined()
    }
}
