import Contracts
import Foundation
import Kafka
import Storage

/// Reads the lag of each stage from Kafka: in records, and as the age of the oldest unread record.
package struct StageLag: Sendable {
    /// A consumer group and its topic.
    package struct Reader: Sendable {
        package var name: String
        package var group: String
        package var topic: String
    }

    package let configuration: KafkaConfiguration
    /// Where the state-updater stands: its position is in the database, and Kafka's copy is ahead after a restore.
    package let positions: PositionStore

    private static let patience: Duration = .seconds(5)
    /// A worker that works settles several batches meanwhile.
    private static let secondLook: Duration = .seconds(3)

    /// In pipeline order.
    package static let readers = ServiceKind.allCases.reversed().flatMap { role in
        role.readings.map { reading in
            // The service's own group is the stage; groups beside it are named by their topic.
            let isStage = role.readings.count == 1 || reading.group == ServiceName(rawValue: role.rawValue)?.group
            return Reader(
                name: isStage ? role.rawValue : "\(role.rawValue) (\(reading.route.name))", group: reading.group,
                topic: reading.route.name)
        }
    }

    package func stages(now: Date) async throws -> [StatusReport.Stage] {
        let topics = try await KafkaAdmin(configuration, patience: Self.patience, logger: .silent).topics()
        if let reader = Self.readers.first(where: { topics[$0.topic] == nil }) {
            throw OperationError("the topic \(reader.topic) does not exist; run setup")
        }
        return try await withThrowingTaskGroup(of: (Int, StatusReport.Stage).self) { group in
            for (index, reader) in Self.readers.enumerated() {
                group.addTask { (index, try await stage(reader, now: now)) }
            }
            return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private func stage(_ reader: Reader, now: Date) async throws -> StatusReport.Stage {
        let admin = try KafkaAdmin(configuration, patience: Self.patience, logger: .silent)
        let lags = try await lags(reader, admin)
        let oldest = try await oldest(lags.filter { $0.records > 0 })
        let behind = oldest.map { max(0, now.timeIntervalSince($0)) }
        var isStalled = false
        if let behind, behind > Attention().lag {
            try await Task.sleep(for: Self.secondLook)
            isStalled = try await self.lags(reader, admin).map(\.committed) == lags.map(\.committed)
        }
        return StatusReport.Stage(
            name: reader.name, topic: reader.topic, waiting: lags.reduce(0) { $0 + $1.records }, behindSeconds: behind,
            isStalled: isStalled, settled: lags.reduce(0) { $0 + ($1.committed ?? $1.low) })
    }

    private func lags(_ reader: Reader, _ admin: KafkaAdmin) async throws -> [PartitionLag] {
        var lags = try await admin.lag(group: reader.group, topics: [reader.topic])
        if reader.group == ServiceName.stateUpdater.group {
            // Where the database cannot be asked the screen says so elsewhere; Kafka's copy is better than nothing.
            let cluster = try await admin.clusterId()
            if let stored = try? await positions.all(cluster: cluster, group: reader.group) {
                let offsets = Dictionary(
                    uniqueKeysWithValues: stored.map {
                        (TopicPartition(topic: $0.topic, partition: $0.partition), $0.offset)
                    })
                for index in lags.indices { lags[index].committed = offsets[lags[index].partition] }
            }
        }
        return lags
    }

    /// When the oldest unread record was written; nil where the broker does not return it in time.
    private func oldest(_ lags: [PartitionLag]) async throws -> Date? {
        guard !lags.isEmpty else { return nil }
        // One record of each partition is enough, however many wait.
        var configuration = configuration
        configuration.overrides.merge(
            ["fetch.message.max.bytes": "65536", "queued.max.messages.kbytes": "1024"]) { _, own in own }
        let consumer = try Consumer(configuration, group: "\(ServiceName.storekeeper.group).status", logger: .silent)
        try await consumer.assign(
            lags.map { TopicPartitionOffset($0.partition, offset: max($0.committed ?? $0.low, $0.low)) })
        var unseen = Set(lags.map(\.partition))
        var oldest: Date?
        let deadline = ContinuousClock.now + Self.patience
        while !unseen.isEmpty, ContinuousClock.now < deadline {
            guard case .records(let records) = try await consumer.turn(limit: 1000, wait: .seconds(1)) else { continue }
            for record in records where unseen.remove(record.topicPartition) != nil {
                if let timestamp = record.timestamp { oldest = min(oldest ?? timestamp, timestamp) }
            }
        }
        await consumer.close(deadline: .seconds(1))
        return oldest
    }
}
