import CRDKafka
import Foundation

/// Copies what librdkafka lends for the time of one event.
struct RecordReader {
    /// Nearly all records of a turn are of one topic; its name is made once.
    private var topic = ""

    mutating func read(borrowing message: UnsafePointer<rd_kafka_message_t>) -> ConsumerRecord {
        if let name = rd_kafka_topic_name(message.pointee.rkt), strcmp(name, topic) != 0 {
            topic = String(cString: name)
        }
        var kind = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
        let milliseconds = rd_kafka_message_timestamp(message, &kind)
        return ConsumerRecord(
            topic: topic,
            partition: message.pointee.partition,
            offset: message.pointee.offset,
            timestamp: kind == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
                ? nil : Date(timeIntervalSince1970: Double(milliseconds) / 1000),
            key: message.pointee.key.map { Self.bytes($0, message.pointee.key_len) },
            value: message.pointee.payload.map { Self.bytes($0, message.pointee.len) } ?? [],
            headers: Self.headers(message))
    }

    private static func headers(_ message: UnsafePointer<rd_kafka_message_t>) -> [RecordHeader] {
        var list: OpaquePointer?
        // Parses the headers in place, hence not const, and lends them.
        guard rd_kafka_message_headers(message, &list) == RD_KAFKA_RESP_ERR_NO_ERROR else { return [] }
        var headers: [RecordHeader] = []
        headers.reserveCapacity(rd_kafka_header_cnt(list))
        var name: UnsafePointer<CChar>?
        var value: UnsafeRawPointer?
        var size = 0
        while rd_kafka_header_get_all(list, headers.count, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR,
            let header = name
        {
            headers.append(
                RecordHeader(name: String(cString: header), value: value.map { bytes($0, size) } ?? []))
        }
        return headers
    }

    private static func bytes(_ start: UnsafeRawPointer, _ count: Int) -> [UInt8] {
        Array(UnsafeRawBufferPointer(start: start, count: count))
    }
}
