import CRDKafka
import Logging

/// A client for administration.
///
/// Not `Sendable`: it lives on its admin's thread.
final class AdminHandle {
    let client: ClientHandle

    init(settings: [String: String], logger: Logger) throws {
        // No events: the main queue is not polled, and errors are logged instead.
        client = try ClientHandle(.producer, settings: settings, events: 0, logger: logger)
    }

    func topics(timeout: Duration) throws -> [String: Int] {
        try Metadata(of: client, topic: nil, timeout: timeout).partitionCounts()
    }

    func leaders(timeout: Duration) throws -> [TopicPartition: Int32] {
        try Metadata(of: client, topic: nil, timeout: timeout).leaders()
    }

    func states(timeout: Duration) throws -> [String: TopicState] {
        try Metadata(of: client, topic: nil, timeout: timeout).states()
    }

    func brokers(timeout: Duration) throws -> [BrokerState] {
        try Metadata(of: client, topic: nil, timeout: timeout).addresses
    }

    /// - Returns: per topic nil for success, or the broker's error.
    func create(_ specifications: [TopicSpecification], timeout: Duration) throws -> [String: KafkaError?] {
        var topics: [OpaquePointer?] = []
        defer { for topic in topics { rd_kafka_NewTopic_destroy(topic) } }
        for specification in specifications { topics.append(try Self.newTopic(specification)) }

        return try answer(to: RD_KAFKA_ADMIN_OP_CREATETOPICS, within: timeout, doing: "create topics") {
            rd_kafka_CreateTopics($0, &topics, topics.count, $1, $2)
        } reading: { event in
            try Self.outcomes(event)
        }
    }

    /// Sends one request and waits for its answer.
    /// - Throws: `KafkaError` for an answer that is an error, and if none came in time.
    func answer<Answer>(
        to operation: rd_kafka_admin_op_t, within timeout: Duration, doing: String,
        _ request: (_ client: OpaquePointer, _ options: OpaquePointer?, _ queue: OpaquePointer) -> Void,
        reading: (_ event: OpaquePointer) throws -> Answer
    ) throws -> Answer {
        let answers = EventQueue(newFor: client)
        client.withPointer { client in
            let options = rd_kafka_AdminOptions_new(client, operation)
            defer { rd_kafka_AdminOptions_destroy(options) }
            // Fails only for values out of range, which this is not; then librdkafka's own 60 s apply.
            _ = rd_kafka_AdminOptions_set_request_timeout(options, timeout.wholeMilliseconds, nil, 0)
            answers.withPointer { request(client, options, $0) }
        }
        let answer = try answers.next(within: timeout + .seconds(1)) { event in
            let failure = rd_kafka_event_error(event)
            guard failure == RD_KAFKA_RESP_ERR_NO_ERROR else {
                throw KafkaError(
                    failure, doing: doing, detail: rd_kafka_event_error_string(event).map(String.init(cString:)))
            }
            return try reading(event)
        }
        guard let answer else {
            throw KafkaError(
                RD_KAFKA_RESP_ERR__TIMED_OUT, doing: doing, detail: "no broker of \(client.servers) has answered")
        }
        return answer
    }

    /// The development broker names one that does not exist, for which librdkafka would wait in vain.
    func hasController(timeout: Duration) throws -> Bool {
        let brokers = try Metadata(of: client, topic: nil, timeout: timeout).brokers
        let controller = client.withPointer { rd_kafka_controllerid($0, timeout.wholeMilliseconds) }
        guard controller >= 0 else {
            throw KafkaError(
                RD_KAFKA_RESP_ERR__TIMED_OUT, doing: "ask for the cluster's controller",
                detail: "the brokers of \(client.servers) name none")
        }
        return brokers.contains(controller)
    }

    func hasMembers(_ group: String, timeout: Duration) throws -> Bool? {
        var list: UnsafePointer<rd_kafka_group_list>?
        let code = client.withPointer { rd_kafka_list_groups($0, group, &list, timeout.wholeMilliseconds) }
        defer { if let list { rd_kafka_group_list_destroy(list) } }
        guard code != RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE else { return nil }
        try KafkaError.check(code, doing: "ask for the members of \(group)")
        guard let list else { return false }
        return try (0..<Int(list.pointee.group_cnt)).contains { index in
            let found = list.pointee.groups[index]
            try KafkaError.check(found.err, doing: "ask for the members of \(group)")
            return found.member_cnt > 0
        }
    }

    private static func newTopic(_ specification: TopicSpecification) throws -> OpaquePointer {
        var text = [CChar](repeating: 0, count: 256)
        guard
            let topic = rd_kafka_NewTopic_new(
                specification.name, Int32(clamping: specification.partitions),
                Int32(clamping: specification.replicationFactor), &text, text.count)
        else {
            throw KafkaError(
                RD_KAFKA_RESP_ERR__INVALID_ARG, doing: "create \(specification.name)", detail: swiftText(text))
        }
        for (name, value) in specification.configuration {
            // Names are checked by the broker, not here.
            _ = rd_kafka_NewTopic_set_config(topic, name, value)
        }
        return topic
    }

    private static func outcomes(_ event: OpaquePointer) throws -> [String: KafkaError?] {
        guard let result = rd_kafka_event_CreateTopics_result(event) else { return [:] }
        var count = 0
        let list = rd_kafka_CreateTopics_result_topics(result, &count)
        var outcomes: [String: KafkaError?] = [:]
        for index in 0..<count {
            guard let topic = list?[index] else { continue }
            let name = String(cString: rd_kafka_topic_result_name(topic))
            let code = rd_kafka_topic_result_error(topic)
            // Two set-ups at once: the second finds the topic there, which is what it wanted.
            let isThere = code == RD_KAFKA_RESP_ERR_NO_ERROR || code == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS
            outcomes[name] = .some(
                isThere
                    ? nil
                    : KafkaError(
                        code, doing: "create \(name)",
                        detail: rd_kafka_topic_result_error_string(topic).map(String.init(cString:))))
        }
        return outcomes
    }
}
