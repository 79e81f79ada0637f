import CRDKafka
import Logging

import struct Foundation.Date

/// A producing client and the queue of its delivery reports.
final class ProducerHandle: Sendable {
    /// The content of an event.
    enum Occurrence {
        case reports(Int)
        case failure(KafkaError)
        case statistics(KafkaStatistics)
        case other
    }

    private let client: ClientHandle
    private let queue: EventQueue
    private let choices: PartitionChoices

    init(settings: [String: String], choices: PartitionChoices, logger: Logger) throws {
        self.choices = choices
        client = try ClientHandle(
            .producer, settings: settings,
            events: RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_STATS, partitioner: Self.partitioner,
            logger: logger)
        queue = EventQueue(mainOf: client)
    }

    func setting(_ name: String) -> String? { client.setting(name) }

    /// Enqueues a record without waiting. From then on the delivery expects one report.
    func enqueue(_ record: ProducerRecord, for delivery: PendingSend, index: Int) throws {
        let headers = Self.headers(record.headers)
        // The report's event releases it; the branch below does, if there will be none.
        let opaque = Unmanaged.passRetained(
            DeliveryTicket(delivery, index: index, topic: record.topic, choices: choices))
        let timestamp = record.timestamp.map { Int64(($0.timeIntervalSince1970 * 1000).rounded()) } ?? 0
        let code = client.withPointer { client in
            record.value.withUnsafeBytes { value in
                Self.withKey(record.key) { key, size in
                    storekeeper_produce(
                        client, record.topic, key, size, value.baseAddress, value.count, headers, timestamp,
                        opaque.toOpaque())
                }
            }
        }
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
            opaque.release()
            if let headers { rd_kafka_headers_destroy(headers) }
            if code == RD_KAFKA_RESP_ERR__FATAL, let fatal = client.fatalError() { throw fatal }
            throw KafkaError(code, doing: "produce to \(record.topic)")
        }
    }

    /// Ends the current or the next ``serve(within:)`` at once.
    func wake() { queue.wake() }

    /// Waits for one event and passes every report in it to its delivery.
    func serve(within wait: Duration) -> Occurrence? {
        queue.next(within: wait) { event in
            switch rd_kafka_event_type(event) {
            case RD_KAFKA_EVENT_DR:
                var count = 0
                while let message = rd_kafka_event_message_next(event) {
                    count += 1
                    guard let opaque = message.pointee._private else { continue }
                    Unmanaged<DeliveryTicket>.fromOpaque(opaque).takeRetainedValue().receive(Self.report(message))
                }
                return .reports(count)
            case RD_KAFKA_EVENT_ERROR:
                if rd_kafka_event_error_is_fatal(event) != 0, let fatal = client.fatalError() { return .failure(fatal) }
                let words = rd_kafka_event_error_string(event).map { String(cString: $0) }
                return .failure(KafkaError(rd_kafka_event_error(event), detail: words))
            case RD_KAFKA_EVENT_STATS:
                guard let text = rd_kafka_event_stats(event),
                    let statistics = KafkaStatistics(json: Array(String(cString: text).utf8))
                else { return .other }
                return .statistics(statistics)
            default:
                return .other
            }
        }
    }

    /// Records without a report, and events not served yet.
    var outstanding: Int { client.withPointer { Int(rd_kafka_outq_len($0)) } }

    /// Purges everything not acknowledged; the reports come through `serve` as failures.
    func purge() {
        client.withPointer { _ = rd_kafka_purge($0, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT) }
    }

    /// Blocks up to the timeout. Names no topic, because some brokers create a topic that a request names.
    func partitionCounts(timeout: Duration) throws -> [String: Int] {
        try Metadata(of: client, topic: nil, timeout: timeout).partitionCounts()
    }

    /// Asks a broker, blocking up to the timeout.
    func clusterId(timeout: Duration) throws -> String { try client.clusterId(timeout: timeout) }

    /// Blocks until the topic's metadata has arrived, by which the client knows its leaders.
    func metadata(topic: String, timeout: Duration) throws -> Int {
        try Metadata(of: client, topic: topic, timeout: timeout).partitionCount(of: topic)
    }

    /// Called on the producing thread, or on librdkafka's own once a topic is known; no function of it may be called here. The
    /// record's ticket is borrowed: its delivery report releases it.
    private static let partitioner: ClientHandle.Partitioner = { topic, key, size, count, opaque, ticket in
        guard key == nil, let ticket else {
            return rd_kafka_msg_partitioner_murmur2_random(topic, key, size, count, opaque, ticket)
        }
        return Unmanaged<DeliveryTicket>.fromOpaque(ticket).takeUnretainedValue().partition(of: count)
    }

    // MARK: Borrowing for C

    private static func headers(_ headers: [RecordHeader]) -> OpaquePointer? {
        guard !headers.isEmpty else { return nil }
        let list = rd_kafka_headers_new(headers.count)
        for header in headers {
            header.value.withUnsafeBytes { value in
                // Can only fail on a read-only list, which is what a consumer's is.
                _ = rd_kafka_header_add(list, header.name, -1, value.baseAddress, value.count)
            }
        }
        return list
    }

    /// An empty key needs an address all the same, since NULL means "no key".
    private static func withKey<Result>(_ key: [UInt8]?, _ body: (UnsafeRawPointer?, Int) -> Result) -> Result {
        guard let key else { return body(nil, 0) }
        guard !key.isEmpty else { return withUnsafeBytes(of: UInt8(0)) { body($0.baseAddress, 0) } }
        return key.withUnsafeBytes { body($0.baseAddress, $0.count) }
    }

    /// Only "persisted" is a success: "possibly persisted" may be lost.
    private static func report(_ message: UnsafePointer<rd_kafka_message_t>) -> DeliveryReport {
        var error: KafkaError?
        if message.pointee.err != RD_KAFKA_RESP_ERR_NO_ERROR {
            error = KafkaError(message.pointee.err, doing: "write to \(topic(message))")
        } else if rd_kafka_message_status(message) != RD_KAFKA_MSG_STATUS_PERSISTED {
            error = KafkaError(
                RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, doing: "write to \(topic(message))",
                detail: "no broker has confirmed that the record is stored")
        }
        return DeliveryReport(partition: message.pointee.partition, offset: message.pointee.offset, error: error)
    }

    private static func topic(_ message: UnsafePointer<rd_kafka_message_t>) -> String {
        rd_kafka_topic_name(message.pointee.rkt).map(String.init(cString:)) ?? "a topic"
    }
}
