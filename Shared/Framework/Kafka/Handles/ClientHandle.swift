import CRDKafka
import Foundation
import Logging

/// Owns an `rd_kafka_t`.
///
/// `@unchecked Sendable` because librdkafka's client functions may be called from any thread and the pointer never
/// changes.
package final class ClientHandle: @unchecked Sendable {
    package enum Role { case producer, consumer }
    typealias Partitioner =
        @convention(c) (
            OpaquePointer?, UnsafeRawPointer?, Int, Int32, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?
        ) -> Int32

    private let pointer: OpaquePointer
    /// librdkafka's opaque, which its log callback reads until the client is gone.
    private let logReceiver: LogReceiver

    /// - Parameter events: a mask of `RD_KAFKA_EVENT_…`: the events that are delivered through queues rather than callbacks.
    package convenience init(_ role: Role, settings: [String: String], events: Int32, logger: Logger) throws {
        try self.init(role, settings: settings, events: events, partitioner: nil, logger: logger)
    }

    /// - Parameter partitioner: chooses the partition of each record.
    init(_ role: Role, settings: [String: String], events: Int32, partitioner: Partitioner?, logger: Logger) throws {
        let configuration = try ConfigurationHandle(settings: settings)
        if let partitioner {
            // There is one as soon as a setting of topics is set, such as `acks`.
            configuration.withPointer {
                rd_kafka_topic_conf_set_partitioner_cb(rd_kafka_conf_get_default_topic_conf($0), partitioner)
            }
        }
        let logReceiver = LogReceiver(logger)
        configuration.withPointer { pointer in
            rd_kafka_conf_set_events(pointer, events)
            rd_kafka_conf_set_log_cb(pointer, LogReceiver.callback)
            // Unretained: this handle holds it, and destroys the client first.
            rd_kafka_conf_set_opaque(pointer, Unmanaged.passUnretained(logReceiver).toOpaque())
        }
        var text = [CChar](repeating: 0, count: 512)
        let created = configuration.withPointer { pointer in
            rd_kafka_new(role == .producer ? RD_KAFKA_PRODUCER : RD_KAFKA_CONSUMER, pointer, &text, text.count)
        }
        // On failure the configuration still belongs to its handle, which destroys it.
        guard let created else { throw KafkaConfigurationError(problems: [swiftText(text)]) }
        configuration.release()
        self.pointer = created
        self.logReceiver = logReceiver
    }

    package func withPointer<Result>(_ body: (OpaquePointer) throws -> Result) rethrows -> Result {
        defer { withExtendedLifetime(self) {} }
        return try body(pointer)
    }

    /// The effective value of a setting, defaults included.
    func setting(_ name: String) -> String? {
        var text = [CChar](repeating: 0, count: 4096)
        var size = text.count
        guard rd_kafka_conf_get(rd_kafka_conf(pointer), name, &text, &size) == RD_KAFKA_CONF_OK else { return nil }
        return swiftText(text)
    }

    /// The client's fatal error, once it has one.
    func fatalError() -> KafkaError? {
        var text = [CChar](repeating: 0, count: 512)
        let code = rd_kafka_fatal_error(pointer, &text, text.count)
        guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { return nil }
        return KafkaError(code, detail: swiftText(text), isFatal: true)
    }

    /// The configured brokers.
    var servers: String { setting("bootstrap.servers") ?? "the list" }

    /// Blocks up to the timeout.
    func clusterId(timeout: Duration) throws -> String {
        guard let text = rd_kafka_clusterid(pointer, timeout.wholeMilliseconds) else {
            throw KafkaError(
                RD_KAFKA_RESP_ERR__TIMED_OUT, doing: "ask for the cluster's id",
                detail: "no broker of \(servers) has answered")
        }
        defer { rd_kafka_mem_free(pointer, text) }
        return String(cString: text)
    }

    /// Two requests to each broker, however many partitions. Each blocks up to the timeout.
    func watermarks(_ partitions: [TopicPartition], timeout: Duration) throws -> [Consumer.Watermarks] {
        let lows = try offsets(Int64(RD_KAFKA_OFFSET_BEGINNING), of: partitions, timeout: timeout)
        let highs = try offsets(Int64(RD_KAFKA_OFFSET_END), of: partitions, timeout: timeout)
        return zip(lows, highs).map { (low: $0, high: $1) }
    }

    /// The first offset of each partition whose record is not older; negative where there is none. Blocks up to the timeout.
    /// - Parameter time: in milliseconds since 1970. The protocol has two special times: the beginning and the end.
    func offsets(_ time: Int64, of partitions: [TopicPartition], timeout: Duration) throws -> [Int64] {
        let doing = time < 0 ? "ask for the ends" : "ask for the offsets of a time"
        let list = PartitionList(partitions.map { TopicPartitionOffset($0, offset: time) })
        try list.withPointer { list in
            try KafkaError.check(
                rd_kafka_offsets_for_times(pointer, list, timeout.wholeMilliseconds), doing: "\(doing) of partitions")
        }
        try list.throwFirstError(doing: doing)
        return list.positions().map(\.offset)
    }

    /// Blocks up to the timeout.
    func committed(_ partitions: [TopicPartition], timeout: Duration) throws -> [TopicPartitionOffset?] {
        let list = PartitionList(partitions)
        try list.withPointer { list in
            try KafkaError.check(
                rd_kafka_committed(pointer, list, timeout.wholeMilliseconds), doing: "ask for the committed offsets")
        }
        try list.throwFirstError(doing: "ask for the committed offset")
        return list.positions().map { $0.offset >= 0 ? $0 : nil }
    }

    // A group is left by `ConsumerHandle.close`, never here, where an unavailable coordinator could block.
    deinit {
        // A pointer, which the thread alone uses from now on.
        nonisolated(unsafe) let pointer = pointer
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [logReceiver] in
            rd_kafka_destroy_flags(pointer, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE)
            withExtendedLifetime(logReceiver) {}
            ended.signal()
        }
        _ = ended.wait(timeout: .now() + Self.patience)
    }

    /// Joining librdkafka's threads takes milliseconds, and no end where the client has met a topic that was deleted (2.0 at least):
    /// a broker's thread waits for a partition that is never returned. Such a client stays behind with its three idle threads.
    private static let patience = DispatchTimeInterval.seconds(1)
}
