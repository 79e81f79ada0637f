import Development
import Foundation
import Kafka
import Logging
import Testing

/// The cluster of a test: the one that `KAFKA_BOOTSTRAP_SERVERS` names, else a development broker of its own.
struct Cluster {
    let broker: DevelopmentBroker?
    let configuration: KafkaConfiguration
    private let run = UUID().uuidString.lowercased()

    init() throws {
        if let servers = ProcessInfo.processInfo.environment["KAFKA_BOOTSTRAP_SERVERS"] {
            broker = nil
            configuration = KafkaConfiguration(bootstrapServers: servers)
        } else {
            let broker = try DevelopmentBroker(logger: quiet)
            self.broker = broker
            configuration = broker.configuration.inHaste
        }
    }

    /// An empty topic with a name of this run.
    func topic(_ name: String = "things", partitions: Int = 1) async throws -> String {
        let name = "\(name)-\(run)"
        if let broker {
            try broker.createTopic(name, partitions: partitions)
        } else {
            let outcomes = try await KafkaAdmin(configuration, logger: quiet).createTopics([
                TopicSpecification(name: name, partitions: partitions, replicationFactor: 1)
            ])
            try #require(outcomes.map(\.outcome) == [.created])
        }
        return name
    }

    /// A group with a name of this run.
    func group(_ name: String = "readers") -> String { "\(name)-\(run)" }

    func producer(_ overrides: [String: String] = [:]) throws -> Producer {
        try Producer(configuration.with(overrides), logger: quiet)
    }

    func consumer(
        group: String? = nil, offsetReset: Consumer.OffsetReset = .earliest, _ overrides: [String: String] = [:]
    ) throws -> Consumer {
        try Consumer(
            configuration.with(overrides), group: group ?? self.group(), offsetReset: offsetReset, logger: quiet)
    }
}

/// librdkafka's warnings about faults that tests inject are dropped.
let quiet = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }

extension KafkaConfiguration {
    /// The development broker takes a session's time to assign partitions again; tests do not have it.
    var inHaste: KafkaConfiguration { with(["session.timeout.ms": "2500", "heartbeat.interval.ms": "300"]) }

    func with(_ overrides: [String: String]) -> KafkaConfiguration {
        KafkaConfiguration(
            bootstrapServers: bootstrapServers, overrides: self.overrides.merging(overrides) { _, new in new })
    }
}

/// Nothing here takes this long unless it hangs.
struct TookTooLong: Error {
    static var limit: ContinuousClock.Instant { .now + .hangLimit }
}

extension Consumer {
    /// Answers rebalances until the condition holds for a turn.
    func turns(
        limit: Int = 100, startingAt offset: Int64 = TopicPartitionOffset.committed,
        until isEnough: (ConsumerTurn) -> Bool
    ) async throws {
        let end = TookTooLong.limit
        while ContinuousClock.now < end {
            let turn = try turn(limit: limit, wait: .milliseconds(500))
            switch turn {
            case .assigned(let partitions): try assign(partitions.map { TopicPartitionOffset($0, offset: offset) })
            case .revoked: try unassign()
            case .records, .idle: break
            }
            if isEnough(turn) { return }
        }
        throw TookTooLong()
    }

    /// Reads until there are so many records, like a worker.
    func records(
        _ count: Int, limit: Int = 100, startingAt offset: Int64 = TopicPartitionOffset.committed
    ) async throws -> [ConsumerRecord] {
        var records: [ConsumerRecord] = []
        try await turns(limit: limit, startingAt: offset) { turn in
            if case .records(let more) = turn { records += more }
            return records.count >= count
        }
        return records
    }

    /// Reads without a group's rebalances: partitions assigned by the test.
    func records(_ count: Int, of topic: String, from offset: Int64) async throws -> [ConsumerRecord] {
        try assign([TopicPartitionOffset(topic: topic, partition: 0, offset: offset)])
        return try await records(count)
    }
}

/// The `KafkaError` that a call throws.
func failure(
    isolation: isolated (any Actor)? = #isolation, _ call: () async throws -> Void
) async throws -> KafkaError {
    do {
        try await call()
    } catch let error as KafkaError {
        return error
    }
    throw DidNotFail()
}

/// A call that should have failed did not.
struct DidNotFail: Error {}
