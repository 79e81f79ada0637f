import Development
import Foundation
import TestSupport
import Testing

@testable import Kafka

@Suite struct ConsumerTests {
    private func fill(_ cluster: Cluster, _ topic: String, _ count: Int) async throws {
        let producer = try cluster.producer()
        try await producer.send(
            (0..<count).map { ProducerRecord(topic: topic, key: Array("\($0)".utf8), value: Array("\($0)".utf8)) })
        await producer.close(deadline: .seconds(10))
    }

    @Test func `Consumer returns at most the limit of records in a turn`() async throws {
        let cluster = try Cluster()
        let topic = try await cluster.topic()
        try await fill(cluster, topic, 25)
        let consumer = try cluster.consumer()
        try await consumer.assign([TopicPartitionOffset(topic: topic, partition: 0, offset: 5)])
        var sizes: [Int] = []
        try await consumer.turns(limit: 10) { turn in
            if case .records(let records) = turn { sizes.append(records.count) }
            return sizes.reduce(0, +) == 20
        }
        #expect(sizes.allSatisfy { (1...10).contains($0) })
    }

    @Test(arguments: [true, false])
    func `Consumer takes no further record in a turn once it has four megabytes`(areValues: Bool) async throws {
        let cluster = try Cluster()
        let topic = try await cluster.topic()
        // One compressed batch, which the broker's answer holds as a whole: sent when it has all records, however busy the
        // machine is, and not after a time.
        let producer = try cluster.producer([
            "batch.size": "8000000", "message.max.bytes": "10000000", "linger.ms": "20000", "batch.num.messages": "60",
        ])
        let large = [UInt8](repeating: 0, count: 100_000)
        try await producer.send(
            (0..<60).map { _ in
                ProducerRecord(
                    topic: topic, key: [0], value: areValues ? large : [0],
                    headers: areValues ? [] : [RecordHeader(name: "h", value: large)])
            })
        await producer.close(deadline: .seconds(10))
        let consumer = try cluster.consumer()
        try await consumer.assign([TopicPartitionOffset(topic: topic, partition: 0, offset: 0)])
        var sizes: [Int] = []
        try await consumer.turns(limit: 100) { turn in
            if case .records(let records) = turn { sizes.append(records.count) }
            return sizes.reduce(0, +) == 60
        }
        #expect(sizes.max() == 42, "\(sizes)")
    }

    @Test func `Consumer is idle without new records`() async throws {
        let cluster = try Cluster()
        let topic = try await cluster.topic()
        let consumer = try cluster.consumer()
        try await consumer.assign([TopicPartitionOffset(topic: topic, partition: 0, offset: 0)])
        #expect(try await consumer.turn(limit: 10, wait: .milliseconds(100)) == .idle)
    }

    /// As where a settlement was fenced because a rebalance waits: the source assigns again, and at once returns all partitions.
    /// librdkafka up to 2.15 asserts that a partition it stops was not stopped already, which ends the process.
    @Test func `Consumer may return partitions right after taking them`() async throws {
        let cluster = try Cluster()
        let topic = try await cluster.topic(partitions: 32)
        try await fill(cluster, topic, 200)
        let consumer = try cluster.consumer()
        let positions = (0..<32).map { TopicPartitionOffset(topic: topic, partition: $0, offset: 0) }
        for _ in 0..<50 {
            try await consumer.assign(positions)
            try await consumer.turns(limit: 10) { if case .records = $0 { true } else { false } }
            try await consumer.assign(positions)
            try await consumer.unassign()
        }
        #expect(try await consumer.assignment() == [])
    }

    @Test func `Consumer continues at its group's committed position`() async throws {
        let cluster = try Cluster()
        let topic = try await cluster.topic()
        try await fill(cluster, topic, 10)
        let place = TopicPartition(topic: topic, partition: 0)

        let first = try cluster.consumer()
        try await first.subscribe(to: [topic])
        #expect(try await first.records(10).map(\.offset) == Array(0..<10))
        #expect(try await first.committed([place]) == [nil])
        try await first.commit([TopicPartitionOffset(place, offset: 4)])
        #expect(try await first.committed([place]) == [TopicPartitionOffset(place, offset: 4)])
        #expect(await first.close(deadline: .seconds(30)))

        let second = try cluster.consumer()
        try await second.subscribe(to: [topic])
        #expect(try await second.records(6).map(\.offset) == Array(4..<10))
        await second.close(deadline: .seconds(30))
    }

    @Test func `Consumer repeats an assignment until it is answered`() async throws {
        let cluster = try Cluster()
        let topic = try await cluster.topic(partitions: 2)
        try await fill(cluster, topic, 10)
        let consumer = try cluster.consumer()
        try await consumer.subscribe(to: [topic])
        var turn = ConsumerTurn.idle
        while turn == .idle { turn = try await consumer.turn(limit: 10, wait: .seconds(1)) }
        let expected = ConsumerTurn.assigned((0..<2).map { TopicPartition(topic: topic, partition: $0) })
        #expect(turn == expected)
        #expect(try await consumer.turn(limit: 10, wait: .zero) == expected)
        try await consumer.assign((0..<2).map { TopicPartitionOffset(topic: topic, partition: $0, offset: 0) })
        #expect(try await consumer.records(10).count == 10)
        await consumer.close(deadline: .seconds(30))
    }

    @Test func `Consumer inherits the partitions of a member that leaves`() async throws {
        let cluster = try Cluster()
        let topic = try await cluster.topic(partitions: 4)
        let first = try cluster.consumer()
        let second = try cluster.consumer()
        var firstHas: Set<TopicPartition> = []
        var secondHas: Set<TopicPartition> = []
        try await first.subscribe(to: [topic])
        try await first.turns { turn in
            if case .assigned(let partitions) = turn { firstHas = Set(partitions) }
            return firstHas.count == 4
        }

        try await second.subscribe(to: [topic])
        var sawRevoke = false
        let end = TookTooLong.limit
        while firstHas.count != 2 || secondHas.count != 2 {
            try #require(ContinuousClock.now < end)
            try await first.turns { turn in
                if case .assigned(let partitions) = turn { firstHas = Set(partitions) }
                if case .revoked(let partitions) = turn {
                    sawRevoke = true
                    firstHas.subtract(partitions)
                }
                return true
            }
            try await second.turns { turn in
                if case .assigned(let partitions) = turn { secondHas = Set(partitions) }
                if case .revoked(let partitions) = turn { secondHas.subtract(partitions) }
                return true
            }
        }
        #expect(sawRevoke)
        #expect(firstHas.isDisjoint(with: secondHas))
        #expect(try await Set(first.assignment()) == firstHas)

        await first.close(deadline: .seconds(30))
        try await second.turns { turn in
            if case .assigned(let partitions) = turn { secondHas = Set(partitions) }
            return secondHas.count == 4
        }
        await second.close(deadline: .seconds(30))
    }

    @Test func `Consumer loses no record in a rebalance under load`() async throws {
        let cluster = try Cluster()
        let topic = try await cluster.topic(partitions: 4)
        try await fill(cluster, topic, 2000)
        let consumers = [try cluster.consumer(), try cluster.consumer()]
        var seen: Set<[UInt8]> = []
        var revokes = 0
        try await consumers[0].subscribe(to: [topic])
        let end = TookTooLong.limit
        var hasJoined = false
        // Until all is read and the second member has had its turn.
        while seen.count < 2000 || revokes == 0 {
            try #require(ContinuousClock.now < end)
            for consumer in consumers {
                switch try await consumer.turn(limit: 7, wait: .milliseconds(20)) {
                case .records(let records):
                    seen.formUnion(records.map(\.value))
                    try await commit(records, with: consumer)
                case .assigned(let partitions):
                    try await consumer.assign(
                        partitions.map { TopicPartitionOffset($0, offset: TopicPartitionOffset.committed) })
                case .revoked:
                    revokes += 1
                    try await consumer.unassign()
                case .idle: break
                }
            }
            if !hasJoined, !seen.isEmpty {
                hasJoined = true
                try await consumers[1].subscribe(to: [topic])
            }
        }
        #expect(seen.count == 2000)
        for consumer in consumers { await consumer.close(deadline: .seconds(30)) }
    }

    private func commit(_ records: [ConsumerRecord], with consumer: Consumer) async throws {
        var next: [TopicPartition: Int64] = [:]
        for record in records { next[record.topicPartition] = record.offset + 1 }
        do {
            try await consumer.commit(next.map { TopicPartitionOffset($0.key, offset: $0.value) })
        } catch let error as KafkaError where error.meaning == .fenced {
            // Then the next owner of the partition reads them again.
        }
    }

    @Test func `Consumer reports a position beyond the end as lost and does not skip`() async throws {
        let cluster = try Cluster()
        let topic = try await cluster.topic()
        try await fill(cluster, topic, 3)
        let strict = try cluster.consumer(offsetReset: .error)
        let error = try await failure { _ = try await strict.records(1, of: topic, from: 1000) }
        #expect(error.meaning == .positionLost)
    }

    @Test func `Consumer takes a position beyond the end for the beginning where repeats are harmless`() async throws {
        let cluster = try Cluster()
        let topic = try await cluster.topic()
        try await fill(cluster, topic, 3)
        let lenient = try cluster.consumer(offsetReset: .earliest)
        #expect(try await lenient.records(3, of: topic, from: 1000).map(\.offset) == [0, 1, 2])
    }

    @Test func `Consumer knows the ends of a partition`() async throws {
        let cluster = try Cluster()
        let topic = try await cluster.topic()
        try await fill(cluster, topic, 3)
        let consumer = try cluster.consumer()
        let place = TopicPartition(topic: topic, partition: 0)
        #expect(try await consumer.watermarks([place])[0] == (0, 3))
        _ = try await consumer.records(3, of: topic, from: 0)
        #expect(try await consumer.knownWatermarks(place)?.high == 3)
    }

    @Test func `Consumer does not wait for a record where a partition ends with the marker of a transaction`()
        async throws
    {
        let broker = try DevelopmentBroker(topics: [("in", 1)], logger: quiet)
        let place = TopicPartition(topic: "in", partition: 0)
        let producer = try Producer(broker.configuration, logger: quiet)
        try await producer.send((0..<3).map { ProducerRecord(topic: "in", key: nil, value: Array("\($0)".utf8)) })
        await producer.close(deadline: .seconds(10))
        try await broker.writeTransactionMarker(to: place)
        let reader = try Consumer(broker.configuration, group: "readers", logger: quiet)
        func first(at offset: Int64) async throws -> Int64? {
            let position = TopicPartitionOffset(place, offset: offset)
            return try await reader.firstRecords(at: [position], within: .seconds(600))[place]?.offset
        }
        #expect(try await first(at: 2) == 2)
        #expect(try await first(at: 3) == nil)
        #expect(await reader.emptyEnds == [place: 3..<4])
        await reader.close(deadline: .seconds(5))
    }

    @Test func `Consumer finds the first record since a moment, and none behind the last`() async throws {
        let cluster = try Cluster()
        let topic = try await cluster.topic(partitions: 2)
        let now = Date()
        let producer = try cluster.producer()
        try await producer.send(
            (1...3).map {
                ProducerRecord(
                    topic: topic, key: Array("a".utf8), value: [1],
                    timestamp: now.addingTimeInterval(Double($0) * 10 - 40))
            })
        await producer.close(deadline: .seconds(10))
        let consumer = try cluster.consumer()
        let partitions = TopicPartition.all(of: topic, count: 2)
        let written = try #require(try await consumer.watermarks(partitions).firstIndex { $0.high == 3 })
        #expect(try await consumer.offsets(of: partitions, since: now) == [nil, nil])
        #expect(try await consumer.offsets(of: [], since: now) == [])
        // The development broker finds no record by its time.
        if cluster.broker == nil {
            for (seconds, offset) in [(-25.0, Int64(1)), (-20, 1), (-1000, 0)] {
                let found = try await consumer.offsets(of: partitions, since: now.addingTimeInterval(seconds))
                #expect(found[written] == offset && found[1 - written] == nil)
            }
        }
        await consumer.close(deadline: .seconds(5))
    }

    @Test func `Consumer, producer and admin report the same cluster id, and two clusters differ`() async throws {
        let cluster = try Cluster()
        let name = try await cluster.consumer().clusterId()
        #expect(try await cluster.producer().clusterId() == name)
        #expect(try await KafkaAdmin(cluster.configuration, logger: quiet).clusterId() == name)
        let other = try DevelopmentBroker(logger: quiet)
        #expect(try await KafkaAdmin(other.configuration, logger: quiet).clusterId() != name)
    }

    @Test func `Consumer that is closed says so`() async throws {
        let cluster = try Cluster()
        let consumer = try cluster.consumer()
        #expect(await consumer.close(deadline: .seconds(30)))
        #expect(await consumer.close(deadline: .zero))
        #expect(try await failure { _ = try await consumer.turn(limit: 1, wait: .zero) }.meaning == .fatal)
    }

    @Test func `Consumer has the project's settings`() async throws {
        let configuration = KafkaConfiguration(bootstrapServers: "127.0.0.1:1")
        let consumer = try Consumer(configuration, group: "readers", offsetReset: .error, logger: quiet)
        let expected = [
            "enable.auto.commit": "false", "enable.auto.offset.store": "false",
            "partition.assignment.strategy": "range", "allow.auto.create.topics": "false", "group.instance.id": "",
            "enable.partition.eof": "true", "socket.nagle.disable": "true", "group.id": "readers",
            "auto.offset.reset": "error", "fetch.max.bytes": "1048576",
        ]
        for (name, value) in expected { #expect(try await (consumer.setting(name) ?? "") == value, "\(name)") }
        let earliest = try Consumer(configuration, group: "readers", logger: quiet)
        // "smallest" is what librdkafka calls it since before Kafka 0.9.
        #expect(try await ["earliest", "smallest"].contains(earliest.setting("auto.offset.reset")))
    }
}
