import Contracts
import Foundation
import Kafka
import Pipeline
import Postgres
import Records
import Storage

/// Lets every consumer group of the pipeline begin at the records that were written since a moment, on a cluster where none has read: a
/// new one to which the records of another were copied.
///
/// Each offset carries the digest of the record before it, so that a topic that is created again afterwards is noticed like one that was
/// read.
package struct BeginOffsets: Sendable {
    /// A consumer group with the topic that it reads.
    package struct Group: Sendable {
        package var service: ServiceKind
        package var group: String
        package var topic: String
        /// One for each partition, with its evidence as metadata.
        package var positions: [TopicPartitionOffset]
        /// Number of records from these offsets on.
        package var records: Int64
        /// Number of partitions with an offset, in Kafka or in the database.
        package var existing: Int
        /// Nil where the brokers do not tell.
        package var isRunning: Bool?
    }

    /// The offsets that would be stored.
    package struct Plan: Sendable {
        /// Kafka's id of the cluster.
        package var cluster: String
        package var since: Date
        /// In the order of the pipeline.
        package var groups: [Group]
    }

    private static let patience: Duration = .seconds(15)

    private let configuration: KafkaConfiguration
    private let stored: PositionStore
    private let admin: KafkaAdmin

    /// Does not connect.
    /// - Throws: `KafkaConfigurationError`.
    package init(_ configuration: KafkaConfiguration, _ connection: PostgresConnection) throws {
        self.configuration = configuration
        stored = PositionStore(connection)
        admin = try KafkaAdmin(configuration, patience: Self.patience, logger: .silent)
    }

    /// Finds the offsets of a moment and what there is already; changes nothing.
    /// - Throws: `OperationError` where a topic is missing, or the broker does not find records by their time.
    package func plan(since moment: Date) async throws -> Plan {
        let cluster = try await admin.clusterId()
        let topics = try await admin.topics()
        let consumer = try Consumer(
            configuration.fetchingLittle, group: "\(ServiceName.storekeeper.group).offsets", logger: .silent)
        let result: Result<[Group], any Error>
        do {
            var groups: [Group] = []
            for reader in StageLag.readers {
                guard let count = topics[reader.topic] else {
                    throw OperationError("the topic \(reader.topic) does not exist; run setup")
                }
                guard try await isDeployed(reader) else { continue }
                let partitions = TopicPartition.all(of: reader.topic, count: count)
                groups.append(try await group(reader, partitions, since: moment, in: cluster, asking: consumer))
            }
            result = .success(groups)
        } catch {
            result = .failure(error)
        }
        await consumer.close(deadline: .seconds(1))
        return Plan(cluster: cluster, since: moment, groups: try result.get())
    }

    /// A service that a deployment may do without has stored an offset where it ran, if only of another cluster.
    private func isDeployed(_ reader: StageLag.Reader) async throws -> Bool {
        guard reader.service.isOptional else { return true }
        return try await stored.isKnown(group: reader.group)
    }

    private func group(
        _ reader: StageLag.Reader, _ partitions: [TopicPartition], since moment: Date, in cluster: String,
        asking consumer: Consumer
    ) async throws -> Group {
        // Before the question of the time: what is written in between is read.
        let ends = try await consumer.watermarks(partitions)
        let found = try await consumer.offsets(of: partitions, since: moment)
        var positions: [TopicPartitionOffset] = []
        var records: Int64 = 0
        for (partition, ((low, high), offset)) in zip(partitions, zip(ends, found)) {
            let begin = max(low, min(offset ?? high, high))
            positions.append(TopicPartitionOffset(partition, offset: begin))
            records += high - begin
        }
        let lows = Dictionary(uniqueKeysWithValues: zip(partitions, ends.map(\.low)))
        let evidence = try await evidence(
            before: positions.filter { $0.offset > lows[$0.topicPartition] ?? 0 }, since: moment, asking: consumer)
        for index in positions.indices { positions[index].metadata = evidence[positions[index].topicPartition]?.text }
        var existing = Set(
            try await admin.lag(group: reader.group, topics: [reader.topic]).filter { $0.committed != nil }
                .map(\.partition))
        if reader.service.storesOffsets {
            existing.formUnion(
                try await stored.all(cluster: cluster, group: reader.group).filter { $0.topic == reader.topic }
                    .map { TopicPartition(topic: $0.topic, partition: $0.partition) })
        }
        return Group(
            service: reader.service, group: reader.group, topic: reader.topic, positions: positions, records: records,
            existing: existing.count,
            isRunning: try await admin.hasMembers(reader.group))
    }

    /// The digest of the record before each offset.
    private func evidence(
        before positions: [TopicPartitionOffset], since moment: Date, asking consumer: Consumer
    ) async throws -> [TopicPartition: PositionEvidence] {
        let previous = positions.map { TopicPartitionOffset($0.topicPartition, offset: $0.offset - 1) }
        let records = try await consumer.firstRecords(at: previous, within: Self.patience)
        return try previous.reduce(into: [:]) { evidence, place in
            guard let record = records[place.topicPartition], record.offset == place.offset else {
                throw OperationError(
                    "Kafka returned no record at \(place) within 15 s; check the brokers' health and run it again")
            }
            // Kafka's answer is the first record that is not older, so the one before it is.
            if let written = record.timestamp, written >= moment {
                throw OperationError(
                    "the record at \(place) was written at \(written.text), and Kafka found none since \(moment.text) before it: "
                        + "these brokers do not find records by their time, so the groups can only begin at the beginning. The "
                        + "embedded broker of storekeeper dev and Deploy/run is such a one; run this against Apache Kafka"
                )
            }
            evidence[place.topicPartition] = PositionEvidence(endingWith: record)
        }
    }

    /// Stores the offsets of a plan.
    ///
    /// Kafka rejects those of a group with members, so a service that was started meanwhile keeps its own. After a failure, repeating it with
    /// `replacing` stores all of them.
    /// - Parameter replacing: whether groups that have offsets already get these instead.
    /// - Throws: `OperationError` where a group is running, or has offsets and they are not to be replaced.
    package func apply(_ plan: Plan, replacing: Bool) async throws {
        try Self.check(plan, replacing: replacing)
        for group in plan.groups {
            let consumer = try Consumer(configuration, group: group.group, logger: .silent)
            let result: Result<Void, any Error>
            do { result = .success(try await consumer.commit(group.positions)) } catch { result = .failure(error) }
            await consumer.close(deadline: .seconds(1))
            do {
                try result.get()
            } catch let error as KafkaError where error.meaning == .fenced {
                throw Self.isRunning([group.group])
            }
            guard group.service.storesOffsets else { continue }
            let positions = group.positions.map { position in
                StoredPosition(
                    next: LogPosition(
                        topic: position.topic, partition: position.partition, offset: position.offset),
                    evidence: position.metadata)
            }
            let count = try await stored.begin(
                cluster: plan.cluster, group: group.group, at: positions, replacing: replacing)
            guard count == positions.count else { throw Self.isRunning([group.group]) }
        }
    }

    /// Whether nothing stands against a plan.
    /// - Throws: as ``apply(_:replacing:)`` does.
    package static func check(_ plan: Plan, replacing: Bool) throws {
        let running = plan.groups.filter { $0.isRunning == true }.map(\.group)
        guard running.isEmpty else { throw isRunning(running) }
        let existing = plan.groups.filter { $0.existing > 0 }.map(\.group)
        guard existing.isEmpty || replacing else {
            throw OperationError(
                "\(existing.joined(separator: ", ")): offsets in cluster \(plan.cluster.escaped) already, so its records since then "
                    + "may have been read; --replace replaces them")
        }
    }

    private static func isRunning(_ groups: [String]) -> OperationError {
        OperationError(
            "\(groups.joined(separator: ", ")): the group has members, and Kafka changes no offset of such a group; stop the services, "
                + "wait until their session has ended (10 s after a kill), and run it again with --replace")
    }
}
