import Development
import Foundation
import Testing

@testable import Kafka

@Suite struct DevelopmentBrokerTests {
    @Test func `DevelopmentBroker shares partitions between several brokers`() async throws {
        let broker = try DevelopmentBroker(brokers: 3, topics: [("things", 6)], logger: quiet)
        #expect(broker.bootstrapServers.split(separator: ",").count == 3)
        #expect(broker.bootstrapServers.split(separator: ",").allSatisfy { $0.hasPrefix("127.0.0.1:") })
        let producer = try Producer(broker.configuration, logger: quiet)
        try await producer.send(
            (0..<100).map { ProducerRecord(topic: "things", key: Array("\($0)".utf8), value: []) })
        #expect(try await KafkaAdmin(broker.configuration, logger: quiet).topics() == ["things": 6])
    }

    @Test func `DevelopmentBroker can be reached from other processes by its environment`() throws {
        let broker = try DevelopmentBroker(logger: quiet)
        #expect(try KafkaConfiguration(environment: broker.environment, fallback: "") == broker.configuration)
    }

    @Test func `DevelopmentBroker reports a topic created twice`() throws {
        let broker = try DevelopmentBroker(topics: [("things", 1)], logger: quiet)
        #expect(throws: KafkaError.self) { try broker.createTopic("things", partitions: 1) }
    }

    /// librdkafka aborts the process where a child that starts still has the broker's listener.
    @Test func `Broker can go down while processes start`() async throws {
        let broker = try DevelopmentBroker(topics: [("things", 1)], logger: quiet)
        try await withThrowingTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    while !Task.isCancelled {
                        let process = Process()
                        process.executableURL = URL(fileURLWithPath: "/bin/true")
                        try process.start()
                        process.waitUntilExit()
                    }
                }
            }
            for _ in 0..<60 {
                try broker.takeDown()
                try broker.bringUp()
            }
            group.cancelAll()
            try await group.waitForAll()
        }
        let producer = try Producer(broker.configuration, logger: quiet)
        _ = try await producer.send(ProducerRecord(topic: "things", key: nil, value: []))
    }

    @Test func `Client follows a partition that moves`() async throws {
        let broker = try DevelopmentBroker(brokers: 2, topics: [("things", 1)], logger: quiet)
        let place = TopicPartition(topic: "things", partition: 0)
        let producer = try Producer(
            broker.configuration.with(["message.timeout.ms": "60000"]), logger: quiet)
        for leader in [1, 2, 1] as [Int32] {
            try broker.setLeader(of: place, broker: leader)
            _ = try await producer.send(ProducerRecord(topic: "things", key: nil, value: []))
        }
        #expect(try await Consumer(broker.configuration, group: "g", logger: quiet).watermarks([place])[0].high == 3)
    }

    @Test func `Client follows a coordinator that moves`() async throws {
        let broker = try DevelopmentBroker(brokers: 2, topics: [("things", 1)], logger: quiet)
        try broker.setCoordinator(ofGroup: "readers", broker: 2)
        let place = TopicPartition(topic: "things", partition: 0)
        let consumer = try Consumer(broker.configuration, group: "readers", logger: quiet)
        try await consumer.commit([TopicPartitionOffset(place, offset: 0)])
        #expect(try await consumer.committed([place]) == [TopicPartitionOffset(place, offset: 0)])
    }

    /// Another client, in another process, of another library.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/kcat")))
    func `Producer writes records that another process reads`() async throws {
        let broker = try DevelopmentBroker(topics: [("things", 1)], logger: quiet)
        let producer = try Producer(broker.configuration, logger: quiet)
        _ = try await producer.send(
            ProducerRecord(
                topic: "things", key: Array("k".utf8), value: Array("v".utf8),
                headers: [RecordHeader(name: "h", value: Array("x".utf8))]))
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/kcat")
        process.arguments = [
            "-C", "-b", broker.bootstrapServers, "-t", "things", "-o", "beginning", "-c", "1", "-q", "-f", "%k=%s %h",
        ]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.start()
        let text = try output.fileHandleForReading.readToEnd()
        process.waitUntilExit()
        #expect(text == Data("k=v h=x".utf8))
    }
}
