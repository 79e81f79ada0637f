import CRDKafka

/// Owns an `rd_kafka_metadata_t`: the cluster's answer about its topics.
final class Metadata {
    private let pointer: UnsafePointer<rd_kafka_metadata>

    /// Blocks up to the timeout.
    /// - Parameter topic: nil asks for all of them.
    init(of client: ClientHandle, topic: String?, timeout: Duration) throws {
        var answer: UnsafePointer<rd_kafka_metadata>?
        let code = client.withPointer { client in
            let one = topic.map { rd_kafka_topic_new(client, $0, nil) } ?? nil
            defer { if let one { rd_kafka_topic_destroy(one) } }
            return rd_kafka_metadata(client, topic == nil ? 1 : 0, one, &answer, timeout.wholeMilliseconds)
        }
        try KafkaError.check(code, doing: "ask \(client.servers) for the metadata of \(topic ?? "all topics")")
        guard let answer else { throw KafkaError(RD_KAFKA_RESP_ERR__FAIL, doing: "ask for the metadata") }
        pointer = answer
    }

    /// Name to number of partitions.
    /// - Throws: the first topic's error, if the cluster reports one.
    func partitionCounts() throws -> [String: Int] {
        var counts: [String: Int] = [:]
        for index in 0..<Int(pointer.pointee.topic_cnt) {
            let topic = pointer.pointee.topics[index]
            let name = String(cString: topic.topic)
            if topic.err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART { continue }
            try KafkaError.check(topic.err, doing: "ask for the metadata of \(name)")
            counts[name] = Int(topic.partition_cnt)
        }
        return counts
    }

    /// The broker that leads each partition; negative where there is none now.
    func leaders() throws -> [TopicPartition: Int32] {
        let counts = try partitionCounts()
        var leaders: [TopicPartition: Int32] = [:]
        for index in 0..<Int(pointer.pointee.topic_cnt) {
            let topic = pointer.pointee.topics[index]
            let name = String(cString: topic.topic)
            for place in 0..<(counts[name] ?? 0) {
                let partition = topic.partitions[place]
                leaders[TopicPartition(topic: name, partition: partition.id)] = partition.leader
            }
        }
        return leaders
    }

    /// The numbers of the available brokers.
    var brokers: Set<Int32> {
        Set((0..<Int(pointer.pointee.broker_cnt)).map { pointer.pointee.brokers[$0].id })
    }

    /// The available brokers, none of them known to be reachable.
    var addresses: [BrokerState] {
        (0..<Int(pointer.pointee.broker_cnt)).map { index in
            let broker = pointer.pointee.brokers[index]
            return BrokerState(
                id: broker.id, host: broker.host.map { String(cString: $0) } ?? "", port: broker.port,
                isReachable: false)
        }
    }

    /// Name to partitions and replicas.
    func states() throws -> [String: TopicState] {
        let counts = try partitionCounts()
        var states: [String: TopicState] = [:]
        for index in 0..<Int(pointer.pointee.topic_cnt) {
            let topic = pointer.pointee.topics[index]
            let name = String(cString: topic.topic)
            guard let partitions = counts[name] else { continue }
            let copies = (0..<Int(topic.partition_cnt)).map { Int(topic.partitions[$0].replica_cnt) }
            states[name] = TopicState(partitions: partitions, replicationFactor: copies.min() ?? 0)
        }
        return states
    }

    func partitionCount(of topic: String) throws -> Int {
        guard let count = try partitionCounts()[topic] else {
            throw KafkaError(
                RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART,
                detail: "the topic \(topic) does not exist: run setup against this cluster")
        }
        return count
    }

    deinit { rd_kafka_metadata_destroy(pointer) }
}
