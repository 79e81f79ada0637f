import Contracts
import Development
import Foundation
import Kafka
import Logging
import Records

/// What a test reads from the broker.
extension DevelopmentBroker {
    /// A broker with topics as `setup` creates them.
    package convenience init(routes: some Sequence<Route>) throws {
        try self.init(topics: routes.map { ($0.name, $0.partitions) }, logger: .quiet)
    }

    /// The records of a topic from its beginning until there are enough; fewer if that takes longer than `hangLimit`.
    /// - Parameter partitions: how many it has.
    package func records(
        of topic: String, partitions: Int, until isEnough: ([ConsumerRecord]) throws -> Bool
    ) async throws -> [ConsumerRecord] {
        let consumer = try Consumer(
            configuration, group: UUID().uuidString, offsetReset: .earliest, logger: .quiet)
        try await consumer.assign(
            (0..<Int32(partitions)).map {
                TopicPartitionOffset(topic: topic, partition: $0, offset: TopicPartitionOffset.beginning)
            })
        var records: [ConsumerRecord] = []
        let deadline = ContinuousClock.now + .hangLimit
        while try !isEnough(records), ContinuousClock.now < deadline {
            guard case .records(let more) = try await consumer.turn(limit: 1000, wait: .seconds(1)) else { continue }
            records += more
        }
        await consumer.close(deadline: .seconds(5))
        return records
    }

    /// The messages of a topic from its beginning until there are enough; fewer if that takes longer than `hangLimit`.
    /// - Parameter partitions: how many it has, where it was not created as `setup` does.
    package func messages<Message: TopicMessage>(
        of topic: Topic<Message>, partitions: Int? = nil, until isEnough: ([Message]) -> Bool
    ) async throws -> [Message] {
        var messages: [Message] = []
        _ = try await records(of: topic.name, partitions: partitions ?? topic.route.partitions) { records in
            messages += try records[messages.count...].map(Self.message)
            return isEnough(messages)
        }
        return messages
    }

    /// The first messages of a topic, as many as asked for; fewer if they do not come within `hangLimit`.
    package func messages<Message: TopicMessage>(
        of topic: Topic<Message>, partitions: Int? = nil, count: Int
    ) async throws -> [Message] {
        try await messages(of: topic, partitions: partitions) { $0.count >= count }
    }

    /// The messages that a topic has now.
    package func messages<Message: TopicMessage>(of topic: Topic<Message>) async throws -> [Message] {
        try await messages(of: topic, count: Int(try await end(of: topic.route)))
    }

    /// How many records were ever written to a topic.
    package func end(of route: Route) async throws -> Int64 {
        let consumer = try Consumer(configuration, group: UUID().uuidString, offsetReset: .earliest, logger: .quiet)
        let partitions = TopicPartition.all(of: route.name, count: route.partitions)
        let end = try await consumer.watermarks(partitions).reduce(0) { $0 + $1.high }
        await consumer.close(deadline: .seconds(5))
        return end
    }

    private static func message<Message: TopicMessage>(_ record: ConsumerRecord) throws -> Message {
        try Message(
            WireRecord(
                key: record.key, value: record.value, headers: record.headers.map { WireHeader($0.name, $0.value) }))
    }
}

extension Logger {
    /// Logs nothing.
    package static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}
