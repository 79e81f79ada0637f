import Commands
import Contracts
import Development
import Kafka
import Records
import Storage
import TestSupport
import Testing

@testable import Devkit

struct BacklogTests {
    @Test func `Backlog counts what waits before each stage, and how full the fullest partition is`() async throws {
        let broker = try DevelopmentBroker(routes: Topics.all)
        let producer = try Producer(broker.configuration, logger: .silent)
        for _ in 1...3 {
            try await producer.send([ProducerRecord(topic: Topics.verified.name, key: [1], value: [2])])
        }
        let backlog = try Backlog(broker.configuration, forgets: true, logger: .silent)
        try await backlog.refresh()
        await backlog.close()
        let measurement = try #require(backlog.measurement)
        #expect(measurement.waiting.filter { $0.value > 0 } == [.deduplicator: 3])
        #expect(measurement.waiting[.verifier] == 0)
        #expect(!measurement.isSettled)
        #expect(measurement.pressure == 3 * Int64(Topics.verified.route.partitions))
        #expect(measurement.dropped == 0)
        #expect(measurement.written == 3)
        await producer.close(deadline: .seconds(1))
    }

    @Test func `Backlog that stands still ends the wait with a sentence that names what waits`() async throws {
        let broker = try DevelopmentBroker(routes: Topics.all)
        let producer = try Producer(broker.configuration, logger: .silent)
        try await producer.send([ProducerRecord(topic: Topics.verified.name, key: [1], value: [2])])
        let backlog = try Backlog(broker.configuration, forgets: true, logger: .silent)
        try await backlog.refresh()
        let error = await #expect(throws: CommandError.self) { try await backlog.becomesEmpty(stallLimit: .zero) }
        #expect(error.map { "\($0)".contains("1 wait for deduplicator") } == true)
        await backlog.close()
        await producer.close(deadline: .seconds(1))
    }

    @Test func `Records that the development broker drops unread are counted, and not as waiting`() async throws {
        let broker = try DevelopmentBroker(routes: Topics.all)
        let producer = try Producer(broker.configuration, logger: .silent)
        // Twice what a partition holds, of bytes that do not shrink.
        var random = SeededGenerator(state: 1)
        for _ in 1...40 {
            let value = (0..<32_768).flatMap { _ in withUnsafeBytes(of: random.next()) { Array($0) } }
            try await producer.send([ProducerRecord(topic: Topics.unique.name, key: [1], value: value)])
        }
        let backlog = try Backlog(broker.configuration, forgets: true, logger: .silent)
        try await backlog.refresh()
        await backlog.close()
        let measurement = try #require(backlog.measurement)
        #expect(measurement.dropped > 0)
        #expect(measurement.dropped + (measurement.waiting[.stateUpdater] ?? 0) == 40)
        await producer.close(deadline: .seconds(1))
    }

    @Test func `Measurements of stages add up`() {
        var measurement = Backlog.Measurement(
            waiting: [.verifier: 1], isSettled: true, pressure: 7, dropped: 1, written: 4)
        measurement.add(
            Backlog.Measurement(waiting: [.deduplicator: 2], isSettled: false, pressure: 3, dropped: 2, written: 5))
        #expect(
            measurement
                == Backlog.Measurement(
                    waiting: [.verifier: 1, .deduplicator: 2], isSettled: false, pressure: 7, dropped: 3, written: 9))
    }

    @Test func `Measurement is idle while nothing waits and nothing was written`() {
        let measurement = Backlog.Measurement(number: 1, written: 5)
        #expect(Backlog.Measurement(number: 2, written: 5).isIdle(since: measurement))
        #expect(!Backlog.Measurement(number: 2, written: 6).isIdle(since: measurement))
        #expect(!Backlog.Measurement(number: 2, isSettled: false, written: 5).isIdle(since: measurement))
        #expect(!measurement.isIdle(since: nil))
    }

    @Test func `Backlog takes the stored offsets of a service that has them, and not those in Kafka`() async throws {
        try await TestDatabase.use { database async throws in
            let broker = try DevelopmentBroker(routes: Topics.all)
            let producer = try Producer(broker.configuration, logger: .silent)
            for _ in 1...3 {
                try await producer.send([ProducerRecord(topic: Topics.unique.name, key: [1], value: [2])])
            }
            let positions = PositionStore(TestDatabase.connection(database))
            let backlog = try Backlog(broker.configuration, positions: positions, forgets: true, logger: .silent)
            try await backlog.refresh()
            #expect(backlog.measurement?.waiting[.stateUpdater] == 3)
            #expect(backlog.measurement?.isSettled == false)
            let route = Topics.unique.route
            _ = try await positions.establish(
                cluster: try await producer.clusterId(), group: ServiceName.stateUpdater.group,
                lowWatermarks: TopicPartition.all(of: route.name, count: route.partitions).map {
                    LogPosition(topic: $0.topic, partition: $0.partition, offset: 3)
                })
            try await backlog.refresh()
            #expect(backlog.measurement?.waiting[.stateUpdater] == 0)
            #expect(backlog.measurement?.isSettled == true)
            await backlog.close()
            await producer.close(deadline: .seconds(1))
        }
    }
}
