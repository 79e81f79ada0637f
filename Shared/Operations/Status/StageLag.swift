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

    /// The stages that could be read, and why the others could not, by name.
    package struct Answer: Sendable, Encodable {
        package var stages: [PipelineStatus.Stage] = []
        package var unread: [String: String] = [:]
    }

    /// Each topic's number of partitions, and who can be asked.
    private struct Cluster: Sendable {
        /// Names the brokers that are reachable: a client that begins with another one waits a second.
        var configuration: KafkaConfiguration
        var topics: [String: Int]
        /// Brokers, and -1, which Kafka names for a partition without a leader.
        var lost: Set<Int32>
        /// Of one request.
        var patience: Duration
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

    /// - Throws: where no stage can be read.
    package func answer(now: Date) async throws -> Answer {
        let cluster = try await cluster()
        if let reader = Self.readers.first(where: { cluster.topics[$0.topic] == nil }) {
            throw OperationError("the topic \(reader.topic) does not exist; run setup")
        }
        let sections = await withTaskGroup(of: (Int, Section<PipelineStatus.Stage?>).self) { group in
            for (index, reader) in Self.readers.enumerated() {
                group.addTask { (index, await Section { try await stage(reader, in: cluster, now: now) }) }
            }
            return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }
        }
        var answer = Answer()
        for (index, section) in sections {
            switch section {
            case .read(let stage): if let stage { answer.stages.append(stage) }
            case .unreadable(let problem): answer.unread[Self.readers[index].name] = problem
            }
        }
        if answer.unread.count == sections.count, let problem = sections.first?.1.problem {
            throw OperationError(problem)
        }
        return answer
    }

    private func cluster() async throws -> Cluster {
        let admin = try KafkaAdmin(configuration, patience: Self.patience, logger: .silent)
        let topics = try await admin.topics()
        let brokers = try await admin.brokers(within: max(.zero, deadline - .now) / 4)
        let lost = brokers.filter { !$0.isReachable }.map(\.id)
        var cluster = Cluster(
            configuration: configuration, topics: topics, lost: Set(lost + [-1]), patience: Self.patience)
        if !lost.isEmpty, lost.count < brokers.count {
            cluster.configuration.bootstrapServers = brokers.filter(\.isReachable).map(\.address).joined(
                separator: ",")
            // Leaves time to report a group whose coordinator is lost, too, before the deadline of all stages.
            cluster.patience = min(Self.patience, max(.zero, deadline - .now) / 2)
        }
        return cluster
    }

    private func stage(_ reader: Reader, in cluster: Cluster, now: Date) async throws -> PipelineStatus.Stage? {
        let admin = try KafkaAdmin(cluster.configuration, patience: cluster.patience, logger: .silent)
        let lags = try await lags(reader, admin, without: cluster.lost)
        guard !lags.isEmpty else {
            throw OperationError("no broker that leads a partition of \(reader.topic) is reachable from here")
        }
        let partitions = cluster.topics[reader.topic] ?? 0
        let asked = Set(lags.map(\.partition.partition))
        let unread = TopicPartition.all(of: reader.topic, count: partitions).map(\.partition).filter {
            !asked.contains($0)
        }
        // A service that a deployment may do without has no lag before it first ran.
        if reader.service.isOptional, lags.allSatisfy({ $0.committed == nil }) {
            guard !unread.isEmpty else { return nil }
            throw OperationError(
                "whether it has run is unknown, as leaders of partitions of \(reader.topic) do not answer here")
        }
        let (oldest, ends) = try await oldest(lags.filter { $0.records > 0 }, in: cluster)
        let behind = oldest.map { max(0, now.timeIntervalSince($0)) }
        var isStalled = false
        let pause = min(Self.secondLook, deadline - .now - Self.reserve)
        if let behind, behind > Attention().lag, pause > .zero {
            try await Task.sleep(for: pause)
            isStalled =
                try await self.lags(reader, admin, without: cluster.lost).map(\.committed) == lags.map(\.committed)
        }
        return PipelineStatus.Stage(
            name: reader.name, topic: reader.topic,
            waiting: lags.reduce(0) { $0 + $1.records(without: ends[$1.partition]) }, behindSeconds: behind,
            isStalled: isStalled, settled: unread.isEmpty ? lags.reduce(0) { $0 + $1.settled } : nil,
            restartedAt: lags.compactMap { PositionEvidence(text: $0.metadata).restartedAt }.max(),
            orphanedPartitions: await orphans(reader, admin, existing: partitions), unreadPartitions: unread)
    }

    /// Partitions with a stored offset that the topic does not have; none where the database cannot be asked.
    private func orphans(_ reader: Reader, _ admin: KafkaAdmin, existing: Int) async -> [Int32] {
        guard reader.service.storesOffsets, let cluster = try? await admin.clusterId(),
            let stored = await answered({ [positions] in
                try await positions.all(cluster: cluster, group: reader.group).filter { $0.topic == reader.topic }
                    .map(\.partition)
            })
        else { return [] }
        return stored.filter { $0 >= existing }
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

    private func lags(_ reader: Reader, _ admin: KafkaAdmin, without lost: Set<Int32>) async throws -> [PartitionLag] {
        var lags = try await admin.lag(group: reader.group, topics: [reader.topic], without: lost)
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
    private func oldest(
        _ lags: [PartitionLag], in cluster: Cluster
    ) async throws -> (Date?, [TopicPartition: Range<Int64>]) {
        guard !lags.isEmpty else { return (nil, [:]) }
        let consumer = try Consumer(
            cluster.configuration.fetchingLittle, group: "\(ServiceName.storekeeper.group).status", logger: .silent)
        let first = try await consumer.firstRecords(
            at: lags.map { TopicPartitionOffset($0.partition, offset: max($0.committed ?? $0.low, $0.low)) },
            within: cluster.patience)
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
