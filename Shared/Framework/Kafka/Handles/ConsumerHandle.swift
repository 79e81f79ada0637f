import CRDKafka
import Logging

/// A consuming client and the queue of its events.
///
/// Not `Sendable`: it lives on its consumer's thread.
final class ConsumerHandle {
    /// The content of an event.
    enum Occurrence {
        case record(ConsumerRecord)
        case assigned([TopicPartition])
        case revoked([TopicPartition])
        /// There is no further record yet; the offset is that of the next one.
        case end(TopicPartitionOffset)
        case failure(KafkaError)
        case other
    }

    let client: ClientHandle
    private let queue: EventQueue
    private var reader = RecordReader()

    init(settings: [String: String], logger: Logger) throws {
        client = try ClientHandle(
            .consumer, settings: settings,
            events: RD_KAFKA_EVENT_FETCH | RD_KAFKA_EVENT_REBALANCE | RD_KAFKA_EVENT_ERROR, logger: logger)
        // Otherwise errors would come on a second queue that had to be polled.
        try KafkaError.check(
            client.withPointer { rd_kafka_poll_set_consumer($0) }, doing: "redirect the client's main queue")
        guard let queue = EventQueue(consumerOf: client) else {
            throw KafkaError(RD_KAFKA_RESP_ERR__UNKNOWN_GROUP, doing: "open the consumer's queue")
        }
        self.queue = queue
    }

    func subscribe(to topics: [String]) throws {
        let list = PartitionList(topics: topics)
        try KafkaError.check(
            client.withPointer { client in list.withPointer { rd_kafka_subscribe(client, $0) } },
            doing: "subscribe to \(topics.joined(separator: ", "))")
    }

    /// One event. Single-message polls, because the batch interface skips offsets around pause and resume.
    func poll(within wait: Duration) -> Occurrence? {
        queue.next(within: wait) { occurrence($0) }
    }

    private func occurrence(_ event: OpaquePointer) -> Occurrence {
        switch rd_kafka_event_type(event) {
        case RD_KAFKA_EVENT_FETCH:
            guard let message = rd_kafka_event_message_next(event) else { return .other }
            guard message.pointee.err == RD_KAFKA_RESP_ERR_NO_ERROR else {
                return .failure(KafkaError(message.pointee.err, doing: "read"))
            }
            return .record(reader.read(borrowing: message))
        case RD_KAFKA_EVENT_REBALANCE:
            let partitions =
                rd_kafka_event_topic_partition_list(event)
                .map { PartitionList.positions(borrowing: $0).map(\.topicPartition) } ?? []
            return rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS
                ? .assigned(partitions) : .revoked(partitions)
        case RD_KAFKA_EVENT_ERROR where rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR__PARTITION_EOF:
            guard let place = rd_kafka_event_topic_partition(event) else { return .other }
            defer { rd_kafka_topic_partition_destroy(place) }
            return .end(
                TopicPartitionOffset(
                    topic: String(cString: place.pointee.topic), partition: place.pointee.partition,
                    offset: place.pointee.offset))
        case RD_KAFKA_EVENT_ERROR:
            if rd_kafka_event_error_is_fatal(event) != 0, let fatal = client.fatalError() { return .failure(fatal) }
            return .failure(
                KafkaError(
                    rd_kafka_event_error(event), doing: "read",
                    detail: rd_kafka_event_error_string(event).map(String.init(cString:))))
        default:
            return .other
        }
    }

    /// Nil returns everything, which is not the same as an empty assignment.
    ///
    /// Returns when the returned partitions have stopped. librdkafka (2.0 to 2.15 at least) aborts the process if one that
    /// is being stopped is returned again, and its own call returns before.
    func assign(_ positions: [TopicPartitionOffset]?) throws {
        let list = positions.map(PartitionList.init)
        let code = client.withPointer { client in
            list?.withPointer { rd_kafka_assign(client, $0) } ?? rd_kafka_assign(client, nil)
        }
        try KafkaError.check(code, doing: positions == nil ? "give the partitions back" : "take the partitions")
        // The stops are in the main thread's queue, and their answers behind a request made now: a second request
        // is answered after both.
        _ = try assignment()
        _ = try assignment()
    }

    func assignment() throws -> [TopicPartition] {
        var answer: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?
        try KafkaError.check(
            client.withPointer { rd_kafka_assignment($0, &answer) }, doing: "ask for the assignment")
        return answer.map { PartitionList(takingOwnershipOf: $0).positions().map(\.topicPartition) } ?? []
    }

    /// `rd_kafka_commit` would wait for an unavailable coordinator as long as a session lasts; this waits for its answer on a
    /// queue of its own, and drops a late one.
    func commit(_ positions: [TopicPartitionOffset], timeout: Duration) throws {
        let list = PartitionList(positions)
        let answers = EventQueue(newFor: client)
        try KafkaError.check(
            client.withPointer { client in
                list.withPointer { list in
                    answers.withPointer { rd_kafka_commit_queue(client, list, $0, nil, nil) }
                }
            },
            doing: "commit offsets")
        let answer: Void? = try answers.next(within: timeout) { event in
            if let list = rd_kafka_event_topic_partition_list(event) {
                try PartitionList.throwFirstError(borrowing: list, doing: "commit the offset")
            }
            try KafkaError.check(rd_kafka_event_error(event), doing: "commit offsets")
        }
        guard answer != nil else {
            throw KafkaError(
                RD_KAFKA_RESP_ERR__TIMED_OUT, doing: "commit offsets",
                detail: "the group's coordinator has not answered; the offsets may be committed all the same")
        }
    }

    /// What the client knows without a request; nil before the first fetch of the partition.
    func knownWatermarks(_ partition: TopicPartition) -> (low: Int64, high: Int64)? {
        var low: Int64 = 0
        var high: Int64 = 0
        let code = client.withPointer {
            rd_kafka_get_watermark_offsets($0, partition.topic, partition.partition, &low, &high)
        }
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR, high >= 0 else { return nil }
        return (max(low, 0), high)
    }

    /// Leaves the group.
    ///
    /// `rd_kafka_consumer_close` would block until the coordinator has answered, for ever if it is unavailable; this is its
    /// asynchronous variant with the rebalance events served here.
    /// - Returns: false if the deadline passed first.
    func close(deadline: Duration) -> Bool {
        let end = ContinuousClock.now + deadline
        let closing = EventQueue(newFor: client)
        if let error = client.withPointer({ client in
            closing.withPointer { rd_kafka_consumer_close_queue(client, $0) }
        }) {
            rd_kafka_error_destroy(error)
            return false
        }
        while client.withPointer({ rd_kafka_consumer_closed($0) }) == 0 {
            let left = end - .now
            guard left > .zero else { return false }
            closing.next(within: min(left, .milliseconds(20))) { event in
                guard rd_kafka_event_type(event) == RD_KAFKA_EVENT_REBALANCE else { return }
                client.withPointer { _ = rd_kafka_assign($0, nil) }
            }
        }
        return true
    }
}
