import Commands
import Development
import Kafka
import Logging
import Testing

@testable import Devkit

@Suite struct BrokerFaultTests {
    @Test(arguments: [
        ("down", BrokerFault.down(nil)), ("down 2", .down(2)), ("up", .up(nil)), ("up 3", .up(3)),
        ("slow 200", .slow(milliseconds: 200, broker: nil)), ("slow 5 1", .slow(milliseconds: 5, broker: 1)),
        ("error offsetFetch 16", .error(.offsetFetch, code: 16, count: 1)),
        ("error produce -195 20", .error(.produce, code: -195, count: 20)),
        ("late joinGroup 8000 2", .late(.joinGroup, milliseconds: 8000, broker: 2)),
        ("coordinator storekeeper.verifier 2", .coordinator(group: "storekeeper.verifier", broker: 2)),
        (
            "leader notifications.received 7 3",
            .leader(TopicPartition(topic: "notifications.received", partition: 7), broker: 3)
        ),
    ]) func `BrokerFault is read from a line`(line: String, fault: BrokerFault) throws {
        #expect(try BrokerFault(line) == fault)
    }

    @Test(arguments: [
        "", "down two", "slow", "error nothing 7", "error produce 7 0", "late joinGroup 8000", "leader t 1", "stop",
    ])
    func `BrokerFault refuses other lines and says what it takes`(line: String) {
        let error = #expect(throws: CommandError.self) { try BrokerFault(line) }
        #expect("\(error.map { "\($0)" } ?? "")".contains("coordinator GROUP BROKER"))
    }

    @Test func `BrokerFault takes one of three brokers down and up again`() async throws {
        let cluster = try DevelopmentBroker(brokers: 3, topics: [("t", 3)], logger: .silent)
        let producer = try Producer(
            KafkaConfiguration(
                bootstrapServers: cluster.bootstrapServers,
                overrides: ["message.timeout.ms": "3000", "reconnect.backoff.max.ms": "100"]),
            logger: .silent)
        let records = (0..<3).map { ProducerRecord(topic: "t", key: [UInt8($0)], value: [1]) }
        try await producer.send(records)
        try BrokerFault("down").apply(to: cluster)
        await #expect(throws: KafkaError.self) { try await producer.send(records) }
        try BrokerFault("up").apply(to: cluster)
        try await producer.send(records)
        await producer.close(deadline: .seconds(1))
        #expect(throws: KafkaError.self) { try BrokerFault("down 9").apply(to: cluster) }
    }
}
