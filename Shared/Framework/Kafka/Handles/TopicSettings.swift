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

    private typealias Request = (
        _ client: OpaquePointer, _ resources: UnsafeMutablePointer<OpaquePointer?>, Int, _ options: OpaquePointer?,
        _ queue: OpaquePointer
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
        return try answer(
            to: operation, within: timeout, doing: doing,
            { request($0, &resources, resources.count, $1, $2) }, reading: reading)
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
