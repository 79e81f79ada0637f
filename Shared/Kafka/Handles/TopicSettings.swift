import CRDKafka

/// Reads and changes the settings of topics.
extension AdminHandle {
    /// - Returns: per topic its settings; nil where the cluster cannot report them, as the development broker.
    func settings(of topics: [String], timeout: Duration) throws -> [String: [String: TopicState.Setting]]? {
        let doing = "ask for the settings of topics"
        guard try hasController(timeout: timeout) else { return nil }
        do {
            return try withResources(topics.map { ($0, [:]) }, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, timeout, doing) {
                client, resources, count, options, queue in
                rd_kafka_DescribeConfigs(client, resources, count, options, queue)
            } reading: { event in
                guard let result = rd_kafka_event_DescribeConfigs_result(event) else { return [:] }
                var count = 0
                let list = rd_kafka_DescribeConfigs_result_resources(result, &count)
                return try Self.settings(list, count, doing)
            }
        } catch let error as KafkaError
            where [RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE, RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION]
            .map(\.rawValue).contains(error.code)
        {
            return nil
        }
    }

    /// Sets settings of one topic and leaves its others as they are.
    ///
    /// The request replaces all of a topic's own settings, so it must name those that stay; its successor that does not
    /// is missing before librdkafka 2.2.
    func alter(_ topic: String, _ changes: [String: String], timeout: Duration) throws {
        let doing = "change the settings of \(topic)"
        guard let current = try settings(of: [topic], timeout: timeout)?[topic] else {
            throw KafkaError(RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE, doing: doing)
        }
        let kept = current.filter(\.value.isOverridden).mapValues(\.value)
        _ = try withResources(
            [(topic, kept.merging(changes) { $1 })], RD_KAFKA_ADMIN_OP_ALTERCONFIGS, timeout, doing
        ) { client, resources, count, options, queue in
            rd_kafka_AlterConfigs(client, resources, count, options, queue)
        } reading: { event in
            guard let result = rd_kafka_event_AlterConfigs_result(event) else { return [:] }
            var count = 0
            let list = rd_kafka_AlterConfigs_result_resources(result, &count)
            return try Self.settings(list, count, doing)
        }
    }

    /// The development broker names one that does not exist, for which librdkafka would wait in vain.
    private func hasController(timeout: Duration) throws -> Bool {
        let brokers = try Metadata(of: client, topic: nil, timeout: timeout).brokers
        let controller = client.withPointer { rd_kafka_controllerid($0, timeout.wholeMilliseconds) }
        guard controller >= 0 else {
            throw KafkaError(
                RD_KAFKA_RESP_ERR__TIMED_OUT, doing: "ask for the cluster's controller",
                detail: "the brokers of \(client.servers) name none")
        }
        return brokers.contains(controller)
    }

    private typealias Request = (
        OpaquePointer, UnsafeMutablePointer<OpaquePointer?>, Int, OpaquePointer?, OpaquePointer
    ) -> Void

    private func withResources<Answer>(
        _ topics: [(name: String, settings: [String: String])], _ operation: rd_kafka_admin_op_t, _ timeout: Duration,
        _ doing: String, request: Request, reading: (OpaquePointer) throws -> Answer
    ) throws -> Answer {
        var resources: [OpaquePointer?] = topics.map { rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, $0.name) }
        defer { for resource in resources { rd_kafka_ConfigResource_destroy(resource) } }
        for (resource, topic) in zip(resources, topics) {
            // Fails only without a name.
            for (name, value) in topic.settings { _ = rd_kafka_ConfigResource_set_config(resource, name, value) }
        }
        let answers = EventQueue(newFor: client)
        client.withPointer { client in
            let options = rd_kafka_AdminOptions_new(client, operation)
            defer { rd_kafka_AdminOptions_destroy(options) }
            _ = rd_kafka_AdminOptions_set_request_timeout(options, timeout.wholeMilliseconds, nil, 0)
            answers.withPointer { request(client, &resources, resources.count, options, $0) }
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

    private static func settings(
        _ resources: UnsafeMutablePointer<OpaquePointer?>?, _ count: Int, _ doing: String
    ) throws -> [String: [String: TopicState.Setting]] {
        var settings: [String: [String: TopicState.Setting]] = [:]
        for index in 0..<count {
            guard let resource = resources?[index] else { continue }
            let topic = String(cString: rd_kafka_ConfigResource_name(resource))
            try KafkaError.check(rd_kafka_ConfigResource_error(resource), doing: "\(doing): \(topic)")
            var size = 0
            let entries = rd_kafka_ConfigResource_configs(resource, &size)
            for place in 0..<size {
                guard let entry = entries?[place], let value = rd_kafka_ConfigEntry_value(entry) else { continue }
                settings[topic, default: [:]][String(cString: rd_kafka_ConfigEntry_name(entry))] = TopicState.Setting(
                    value: String(cString: value),
                    isOverridden: rd_kafka_ConfigEntry_source(entry) == RD_KAFKA_CONFIG_SOURCE_DYNAMIC_TOPIC_CONFIG)
            }
        }
        return settings
    }
}
