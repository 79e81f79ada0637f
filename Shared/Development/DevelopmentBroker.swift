import CRDKafka
import Kafka
import Logging

/// A Kafka cluster inside this process, for development and tests: librdkafka's own mock cluster.
///
/// Everything is in memory and gone with the process; every partition keeps its last 5 MiB and drops older records
/// silently; it listens on free ports of 127.0.0.1 only, where other processes may connect too. A topic that it does not know
/// is created, with four partitions, when a client asks for it. Calls take milliseconds.
public final class DevelopmentBroker: Sendable {
    private let handle: MockClusterHandle
    private let brokers: Int

    /// `host:port`, comma-separated.
    public let bootstrapServers: String

    /// What clients of this broker should add.
    public static let clientOverrides = [
        // It lets an empty fetch sleep for the full wait even if records arrive.
        "fetch.wait.max.ms": "10",
        // Whenever a member joins or leaves, it waits nearly this long before it assigns the partitions again.
        "session.timeout.ms": "6000",
        "heartbeat.interval.ms": "1000",
    ]

    /// How to reach this broker from this process.
    public var configuration: KafkaConfiguration {
        KafkaConfiguration(bootstrapServers: bootstrapServers, overrides: Self.clientOverrides)
    }

    /// How to reach this broker from other processes: the same as variables.
    public var environment: [String: String] {
        var variables = ["KAFKA_BOOTSTRAP_SERVERS": bootstrapServers]
        for (name, value) in Self.clientOverrides { variables[KafkaConfiguration.variable(name)] = value }
        return variables
    }

    /// - Throws: `KafkaError` if no ports are free, or a topic's name is invalid.
    public init(brokers: Int = 1, topics: [(name: String, partitions: Int)] = [], logger: Logger? = nil) throws {
        handle = try MockClusterHandle(brokers: brokers, logger: logger ?? Logger(label: "development-broker"))
        self.brokers = brokers
        bootstrapServers = handle.withPointer { String(cString: rd_kafka_mock_cluster_bootstraps($0)) }
        for topic in topics { try createTopic(topic.name, partitions: topic.partitions) }
    }

    /// A second time is an error: meaning `rejected` or `retry`, depending on librdkafka's version.
    public func createTopic(_ name: String, partitions: Int) throws {
        try check("create \(name)") {
            rd_kafka_mock_topic_create($0, name, Int32(clamping: partitions), Int32(clamping: brokers))
        }
    }

    private func check(_ doing: String, _ call: (OpaquePointer) -> rd_kafka_resp_err_t) throws {
        try KafkaError.check(handle.withPointer(call), doing: doing)
    }
}

// MARK: Faults

extension DevelopmentBroker {
    /// A kind of request, by the protocol's number.
    public enum Request: Int16, Sendable, CaseIterable {
        case produce = 0
        case fetch = 1
        case listOffsets = 2
        case metadata = 3
        case offsetCommit = 8
        case offsetFetch = 9
        case findCoordinator = 10
        case joinGroup = 11
        case heartbeat = 12
        case leaveGroup = 13
        case syncGroup = 14
        case apiVersions = 18
        case initProducerId = 22
    }

    /// Injected like an error code: the broker disconnects instead of answering.
    public static let disconnect = RD_KAFKA_RESP_ERR__TRANSPORT.rawValue

    /// The next requests of the kind, on any broker, get these errors, one each.
    public func inject(_ codes: [Int32], into request: Request) {
        let errors = codes.map { rd_kafka_resp_err_t(rawValue: $0) }
        handle.withPointer { rd_kafka_mock_push_request_errors_array($0, request.rawValue, errors.count, errors) }
    }

    /// The next request of the kind on one broker (numbered from 1) gets an answer that late: this error, or 0 for none.
    public func inject(_ code: Int32, after delay: Duration, into request: Request, broker: Int32 = 1) throws {
        try check("delay a request") {
            storekeeper_mock_push_delayed_error(
                $0, broker, request.rawValue, rd_kafka_resp_err_t(rawValue: code), delay.wholeMilliseconds)
        }
    }

    /// Removes errors that were not used.
    public func clearErrors(of request: Request) {
        handle.withPointer { rd_kafka_mock_clear_request_errors($0, request.rawValue) }
    }

    /// The error of the topic's metadata from now on; 0 for none.
    public func setError(_ code: Int32, ofTopic topic: String) {
        handle.withPointer { rd_kafka_mock_topic_set_error($0, topic, rd_kafka_resp_err_t(rawValue: code)) }
    }

    /// Disconnects and accepts no connections. Leaders and coordinators stay where they are.
    /// - Parameter broker: numbered from 1; nil for all.
    public func takeDown(broker: Int32? = nil) throws {
        try ProcessStart.withLock {
            try check("take a broker down") { rd_kafka_mock_broker_set_down($0, broker ?? -1) }
        }
    }

    /// Accepts connections again.
    public func bringUp(broker: Int32? = nil) throws {
        try check("bring a broker up") { rd_kafka_mock_broker_set_up($0, broker ?? -1) }
    }

    /// Every answer is that late from now on.
    public func setRoundTrip(_ delay: Duration, broker: Int32? = nil) throws {
        try check("slow a broker down") { rd_kafka_mock_broker_set_rtt($0, broker ?? -1, delay.wholeMilliseconds) }
    }

    /// Moves a partition to another broker; nil leaves it without a leader.
    public func setLeader(of partition: TopicPartition, broker: Int32?) throws {
        try check("move \(partition)") {
            rd_kafka_mock_partition_set_leader($0, partition.topic, partition.partition, broker ?? -1)
        }
    }

    /// Moves a group's coordinator; the broker need not exist.
    public func setCoordinator(ofGroup group: String, broker: Int32) throws {
        try check("move the coordinator of \(group)") { rd_kafka_mock_coordinator_set($0, "group", group, broker) }
    }
}
