/// Our settings of librdkafka, by its own names, each with its reason.
enum HouseSettings {
    /// Every client.
    static let client = [
        // On by default before 2.10: small requests would wait for an acknowledgement of the packet before.
        "socket.nagle.disable": "true",
        // A load balancer between us and the broker drops idle connections silently otherwise.
        "socket.keepalive.enable": "true",
    ]

    static let producer = [
        // "Written" means: to all replicas that are in sync.
        "acks": "all",
        // The default is not Java's; other languages' producers must find the same partition for the same key.
        "partitioner": "murmur2_random",
        // Apple's payloads repeat one certificate chain: a batch of ten shrinks to a ninth, lz4 only to a fifth.
        "compression.type": "zstd",
        // What makes batches of ten; longer would be felt in the time until we answer.
        "linger.ms": "3",
        // The default of 1 GiB would be the whole container; this many bytes fill in the seconds of a broker's failover.
        "queue.buffering.max.kbytes": "131072",
    ]

    /// Idempotence is added from 2.3.0 on: before, the producer can turn fatal for good when a broker drops with
    /// requests in flight. Without it a cut connection may write a record twice, which is dropped downstream.
    static func idempotence(libraryVersion: Int32) -> [String: String] {
        ["enable.idempotence": libraryVersion >= 0x0203_00ff ? "true" : "false"]
    }

    static let consumer = [
        // Both are on by default: a position would be committed that is not settled yet.
        "enable.auto.commit": "false",
        "enable.auto.offset.store": "false",
        // Cooperative assignment loops, crashes and loses assignments before 2.6. The answers in Consumer are eager.
        "partition.assignment.strategy": "range",
        // A reader that creates what it misspelt reads nothing for ever.
        "allow.auto.create.topics": "false",
        // Reaching the end of the log is not news.
        "enable.partition.eof": "false",
        // The partitions of a worker that was killed lie idle for so long. The default of 45 s is sized for clients that
        // pause to collect garbage; brokers allow 6 s and more by default.
        "session.timeout.ms": "10000",
        // How much is read ahead, over all partitions; the default of 64 MiB is sized for bigger containers.
        "queued.max.messages.kbytes": "16384",
    ]

    /// What an operator cannot change, because the code relies on it.
    static let fixed: [String: String] = [
        "bootstrap.servers": "set KAFKA_BOOTSTRAP_SERVERS",
        "metadata.broker.list": "set KAFKA_BOOTSTRAP_SERVERS",
        "acks": "a record counts as written only when all replicas in sync have it",
        "request.required.acks": "a record counts as written only when all replicas in sync have it",
        "partitioner": "all writers have to agree on the partition of a key",
        "enable.auto.commit": "a position is committed after its records are settled, not before",
        "enable.auto.offset.store": "a position is committed after its records are settled, not before",
        "partition.assignment.strategy": "all members of a group have to agree, and the answers are eager ones",
        "allow.auto.create.topics": "topics are created by setup",
        "group.id": "each worker names its group",
        "auto.offset.reset": "each worker says where it starts",
        "transactional.id": "transactions are not used",
    ]
}
