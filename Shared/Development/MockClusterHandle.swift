import CRDKafka
import Kafka
import Logging

/// Owns an `rd_kafka_mock_cluster_t` and holds the client that it lives in.
///
/// `@unchecked Sendable` because the cluster passes every call to its own thread and the pointer never changes.
final class MockClusterHandle: @unchecked Sendable {
    private let pointer: OpaquePointer
    private let client: ClientHandle

    init(brokers: Int, logger: Logger) throws {
        // The brokers answer through this client's sockets: with Nagle's algorithm on, small answers wait for 40 ms.
        client = try ClientHandle(
            .producer, settings: ["socket.nagle.disable": "true"], events: 0, logger: logger)
        guard let pointer = client.withPointer({ rd_kafka_mock_cluster_new($0, Int32(clamping: brokers)) }) else {
            throw KafkaError(
                RD_KAFKA_RESP_ERR__CRIT_SYS_RESOURCE, doing: "start a development broker",
                detail: "it listens on \(brokers) free ports of 127.0.0.1 and could not")
        }
        self.pointer = pointer
    }

    func withPointer<Result>(_ body: (OpaquePointer) throws -> Result) rethrows -> Result {
        defer { withExtendedLifetime(self) {} }
        return try body(pointer)
    }

    deinit { rd_kafka_mock_cluster_destroy(pointer) }
}
