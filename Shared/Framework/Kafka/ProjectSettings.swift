/// The project's settings of librdkafka, by its own names, each with its reason.
enum ProjectSettings {
    /// Every client.
    static let client = [
        // On by default before 2.10: small requests would wait for an acknowledgement of the packet before.
        "socket.nagle.disable": "true",
        // A load balancer in front of the broker drops idle connections silently otherwise.
        "socket.keepalive.enable": "true",
    ]

    static let producer = [
        // "Written" means: on all in-sync replicas.
        "acks": "all",
        // The default is not Java's; producers in other languages must find the same partition for the same key.
        "partitioner": "murmur2_random",
        // A record without a key goes where `PartitionChoice` says, which makes batches by itself.
        "sticky.partitioning.linger.ms": "0",
        // Apple's payloads repeat one certificate chain: a batch of ten shrinks to a ninth, lz4 only to a fifth.
        "compression.type": "zstd",
        // A worker sends its turn's records together anyway: a wait would only be added to the latency, at each stage.
        "linger.ms": "0",
        // What was read can be written again, to a waiting topic with a few headers more: the default of a million bytes is less than
        // other clients and the brokers' own default allow. Compressed it is smaller.
        "message.max.bytes": "2000000",
        // The default of 1 GiB would be the whole container; this many bytes fill in the seconds of a broker's failover.
        "queue.buffering.max.kbytes": "131072",
    ]

    /// Idempotence is added from 2.3.0 on: before, the producer can turn fatal for good when a broker drops with
    /// requests in flight. Without it a cut connection may write a record twice, which is dropped downstream.
    static func idempotence(libraryVersion: Int32) -> [String: String] {
        ["enable.idempotence": libraryVersion >= 0x0203_00ff ? "true" : "false"]
    }

    static let consumer = [
        // Both are on by default: a position would be committed that is not processed yet.
        "enable.auto.commit": "false",
        "enable.auto.offset.store": "false",
        // Cooperative assignment loops, crashes and loses assignments before 2.6. The answers in Consumer are eager.
        "partition.assignment.strategy": "range",
        // A consumer that creates a misspelt topic reads nothing for ever.
        "allow.auto.create.topics": "false",
        // Where a partition ends with markers of transactions, nothing else tells that no record is behind them.
        "enable.partition.eof": "true",
        // The partitions of a killed worker are idle for so long. The default of 45 s is sized for clients that
        // pause to collect garbage; brokers allow 6 s and more by default.
        "session.timeout.ms": "10000",
        // What one answer of a broker may hold, compressed; decompressed it is up to 14 times as much, and each broker has one
        // under way. Before a backlog in three brokers a verifier grew to 427 MiB with 4 MiB, and to 338 with this. What is
        // prefetched stays at the default of 64 MiB: librdkafka 2.0 waits a second once it is reached, so 16 MiB allowed
        // 1,900 records a second.
        "fetch.max.bytes": "1048576",
    ]

    /// Settings that an operator cannot change, because the code relies on them.
    static let fixed: [String: String] = [
        "bootstrap.servers": "set KAFKA_BOOTSTRAP_SERVERS",
        "metadata.broker.list": "set KAFKA_BOOTSTRAP_SERVERS",
        "acks": "a record counts as written only when all in-sync replicas have it",
        "request.required.acks": "a record counts as written only when all in-sync replicas have it",
        "partitioner": "all producers must agree on the partition of a key",
        "enable.auto.commit": "an offset is committed after its records are processed, not before",
        "enable.auto.offset.store": "an offset is committed after its records are processed, not before",
        "partition.assignment.strategy": "all members of a group must agree, and the answers are eager ones",
        "allow.auto.create.topics": "topics are created by setup",
        "group.id": "each worker names its group",
        "auto.offset.reset": "each worker decides where it starts",
        "transactional.id": "transactions are not used",
    ]
}
