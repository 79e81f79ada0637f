import Development
import Foundation
import Kafka
import Logging
import Testing

/// The cluster a test runs on: the one `KAFKA_BOOTSTRAP_SERVERS` names, else a development broker of its own.
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

    /// A fresh topic under a name of this run.
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

    /// A group that no other run knows.
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

/// librdkafka's complaints about the trouble that tests make are not news.
let quiet = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }

extension KafkaConfiguration {
    /// The development broker takes a session's time to divide partitions anew; tests do not have it.
    var inHaste: KafkaConfiguration { with(["session.timeout.ms": "2500", "heartbeat.interval.ms": "300"]) }

    func with(_ overrides: [String: String]) -> KafkaConfiguration {
        KafkaConfiguration(
            bootstrapServers: bootstrapServers, overrides: self.overrides.merging(overrides) { _, new in new })
    }
}

/// Nothing here takes this long unless it hangs.
struct TookTooLong: Error {
    static var limit: ContinuousClock.Instant { .now + .seconds(90) }
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

    /// Reads until there are so many records, the way a worker would.
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

    /// Reads without a group's rebalances: partitions taken by hand.
    func records(_ count: Int, of topic: String, from offset: Int64) async throws -> [ConsumerRecord] {
        try assign([TopicPartitionOffset(topic: topic, partition: 0, offset: offset)])
        return try await records(count)
    }
}

/// What a call throws, if that is a `KafkaError`.
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

/// What should have failed did not.
struct DidNotFail: Error {}
