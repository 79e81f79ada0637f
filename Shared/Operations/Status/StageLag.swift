import Contracts
import Foundation
import Kafka
import Pipeline
import Records
import Storage

/// Reads the lag of each stage from Kafka: in records, and as the age of the oldest unread record.
package struct StageLag: Sendable {
    /// A consumer group and its topic.
    package struct Reader: Sendable {
        package var name: String
        package var group: String
        package var topic: String
        /// The service whose stage it is.
        package var service: ServiceKind
    }

    package let configuration: KafkaConfiguration
    /// The positions of services that store them in the database. Kafka has a copy, which is ahead after a restore.
    package let positions: PositionStore
    /// When the answer has to be there.
    package let deadline: ContinuousClock.Instant

    private static let patience: Duration = .seconds(5)
    /// Between two looks at a stage that is far behind: a worker that works settles several batches meanwhile.
    private static let secondLook: Duration = .seconds(3)
    /// For the second look itself.
    private static let reserve: Duration = .milliseconds(500)

    /// In pipeline order.
    package static let readers = ServiceKind.allCases.reversed().flatMap { role in
        role.readings.map { reading in
            // The service's own group is the stage; groups beside it are named by their topic.
            let isStage =
                role.readings.count == 1 || reading.group == ServiceName.all.first { $0.name == role.rawValue }?.group
            return Reader(
                name: isStage ? role.rawValue : "\(role.rawValue) (\(reading.route.name))", group: reading.group,
                topic: reading.route.name, service: role)
        }
    }

    package func stages(now: Date) async throws -> [PipelineStatus.Stage] {
        let topics = try await KafkaAdmin(configuration, patience: Self.patience, logger: .silent).topics()
        if let reader = Self.readers.first(where: { topics[$0.topic] == nil }) {
            throw OperationError("the topic \(reader.topic) does not exist; run setup")
        }
        return try await withThrowingTaskGroup(of: (Int, PipelineStatus.Stage?).self) { group in
            for (index, reader) in Self.readers.enumerated() {
                group.addTask { (index, try await stage(reader, now: now)) }
            }
            return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.compactMap(\.1)
        }
    }

    private func stage(_ reader: Reader, now: Date) async throws -> PipelineStatus.Stage? {
        let admin = try KafkaAdmin(configuration, patience: Self.patience, logger: .silent)
        let lags = try await lags(reader, admin)
        // A service that a deployment may do without has no lag before it first ran.
        guard !reader.service.isOptional || lags.contains(where: { $0.committed != nil }) else { return nil }
        let (oldest, ends) = try await oldest(lags.filter { $0.records > 0 })
        let behind = oldest.map { max(0, now.timeIntervalSince($0)) }
        var isStalled = false
        let pause = min(Self.secondLook, deadline - .now - Self.reserve)
        if let behind, behind > Attention().lag, pause > .zero {
            try await Task.sleep(for: pause)
            isStalled = try await self.lags(reader, admin).map(\.committed) == lags.map(\.committed)
        }
        return PipelineStatus.Stage(
            name: reader.name, topic: reader.topic,
            waiting: lags.reduce(0) { $0 + $1.records(without: ends[$1.partition]) }, behindSeconds: behind,
            isStalled: isStalled, settled: lags.reduce(0) { $0 + $1.settled },
            restartedAt: lags.compactMap { PositionEvidence(text: $0.metadata).restartedAt }.max(),
            orphanedPartitions: await orphans(reader, admin, existing: lags.map(\.partition)))
    }

    /// Partitions with a stored offset that the topic does not have; none where the database cannot be asked.
    private func orphans(_ reader: Reader, _ admin: KafkaAdmin, existing: [TopicPartition]) async -> [Int32] {
        guard reader.service.storesOffsets, let cluster = try? await admin.clusterId(),
            let stored = await answered({ [positions] in
                try await positions.all(cluster: cluster, group: reader.group).filter { $0.topic == reader.topic }
                    .map(\.partition)
            })
        else { return [] }
        let numbers = Set(existing.map(\.partition))
        return stored.filter { !numbers.contains($0) }
    }

    /// The database's answer; nil where it is away, or gives none in a third of the time: what Kafka knows has to come
    /// within the rest.
    private func answered<Value: Sendable & Encodable>(
        _ question: @escaping @Sendable () async throws -> Value
    ) async -> Value? {
        await Section(within: max(.zero, deadline - .now) / 3, question).value
    }

    /// A stored offset.
    private struct Stored: Encodable {
        var partition: Int32
        var offset: Int64
        var evidence: String?
    }

    private func lags(_ reader: Reader, _ admin: KafkaAdmin) async throws -> [PartitionLag] {
        var lags = try await admin.lag(group: reader.group, topics: [reader.topic])
        if reader.service.storesOffsets {
            // Where the database cannot be asked the screen says so elsewhere; Kafka's copy is better than nothing.
            let cluster = try await admin.clusterId()
            let partitions = lags.map { (topic: $0.partition.topic, partition: $0.partition.partition) }
            let stored = await answered { [positions] in
                try await positions.stored(cluster: cluster, group: reader.group, partitions: partitions).map {
                    Stored(partition: $0.next.partition, offset: $0.next.offset, evidence: $0.evidence)
                }
            }
            if let stored {
                let known = Dictionary(uniqueKeysWithValues: stored.map { ($0.partition, $0) })
                for index in lags.indices {
                    lags[index].committed = known[lags[index].partition.partition]?.offset
                    lags[index].metadata = known[lags[index].partition.partition]?.evidence
                }
            }
        }
        return lags
    }

    /// When the oldest unread record was written, nil where the broker does not return it in time; and where partitions have no
    /// record at their ends.
    private func oldest(_ lags: [PartitionLag]) async throws -> (Date?, [TopicPartition: Range<Int64>]) {
        guard !lags.isEmpty else { return (nil, [:]) }
        let consumer = try Consumer(
            configuration.fetchingLittle, group: "\(ServiceName.storekeeper.group).status", logger: .silent)
        let first = try await consumer.firstRecords(
            at: lags.map { TopicPartitionOffset($0.partition, offset: max($0.committed ?? $0.low, $0.low)) },
            within: Self.patience)
        let ends = await consumer.emptyEnds
        await consumer.close(deadline: .seconds(1))
        return (first.values.compactMap(\.timestamp).min(), ends)
    }
}

extension PartitionLag {
    /// Those that are not settled, without what holds no record, such as markers of transactions at the end.
    fileprivate func records(without end: Range<Int64>?) -> Int64 {
        guard let end, end.contains(settled) else { return records }
        return max(0, self.end - end.upperBound)
    }
}
