import Contracts
import Development
import Foundation
import Kafka
import Logging
import Operations
import Pipeline
import Records
import Storage
import TestSupport
import Testing

@testable import Storekeeper

/// The embedded broker finds no record by its time and answers that there is none, as Kafka does for a time behind the last one.
@Suite struct OffsetsBeginTests {
    private static let partition = TopicPartition(topic: Topics.received.name, partition: 2)
    private static let unique = TopicPartition(topic: Topics.unique.name, partition: 0)

    private struct Page: Decodable, Equatable {
        struct Group: Decodable, Equatable {
            var group: String
            var topic: String
            var partitions: Int
            var records: Int64
        }
        var cluster: String
        var groups: [Group]
        var isStored: Bool
    }

    /// A broker with one record in each partition of the first topic and the last of the pipeline.
    private static func with(_ body: @Sendable (PipelineHarness, KafkaAdmin) async throws -> Void) async throws {
        try await PipelineHarness.with { harness in
            try await write(harness)
            try await body(harness, try KafkaAdmin(harness.broker.configuration, logger: .silent))
        }
    }

    private static func write(_ harness: PipelineHarness) async throws {
        // Without a key the partitions take turns; a key fixes one.
        for topic in [Topics.received.route, Topics.unique.route] {
            try await harness.producer.send(
                (0..<200).map { ProducerRecord(topic: topic.name, key: Array("\($0)".utf8), value: [1]) })
        }
    }

    private static func run(_ harness: PipelineHarness, _ arguments: [String] = ["--at", "0s"]) async -> CommandOutcome
    {
        await CommandOutcome.of(
            ["offsets", "begin"] + arguments, environment: harness.environment,
            // The records have the time of this machine.
            now: Date())
    }

    private static func committed(_ admin: KafkaAdmin, _ group: String, _ topic: String) async throws -> [PartitionLag]
    {
        try await admin.lag(group: group, topics: [topic])
    }

    @Test func `offsets begin lets the groups begin behind the records that are older`() async throws {
        try await Self.with { harness, admin in
            let cluster = try await admin.clusterId()
            let store = PositionStore(harness.connection)
            let dry = await Self.run(harness, ["--at", "0s", "--dry-run", "--json"])
            let page = try dry.json(as: Page.self)
            #expect(page.cluster == cluster && !page.isStored)
            // Webhooks have never run here.
            let groups = ServiceKind.allCases.reversed().filter { $0 != .webhooks }.flatMap(\.readings)
            #expect(page.groups.map(\.group) == groups.map(\.group))
            #expect(page.groups.map(\.partitions) == groups.map(\.route.partitions))
            #expect(page.groups.allSatisfy { $0.records == 0 })
            let verifier = try await Self.committed(admin, ServiceName.verifier.group, Topics.received.name)
            #expect(verifier.allSatisfy { $0.committed == nil })
            #expect(try await store.all(cluster: cluster, group: ServiceName.stateUpdater.group).isEmpty)
            #expect(try await OperatorActionStore(harness.connection).newest(10).isEmpty)

            let outcome = await Self.run(harness)
            #expect(outcome.code == 0, "\(outcome.errorOutput)")
            #expect(outcome.text.contains("Stored in cluster \(cluster)"))
            for reading in groups {
                let lags = try await Self.committed(admin, reading.group, reading.route.name)
                #expect(lags.count == reading.route.partitions)
                #expect(lags.allSatisfy { $0.committed == $0.end }, "\(reading.group)")
                for lag in lags where lag.end > 0 {
                    #expect(PositionEvidence(text: lag.metadata).records.map(\.offset) == [lag.end - 1])
                }
            }
            let unique = try await Self.committed(admin, ServiceName.stateUpdater.group, Topics.unique.name)
            let stored = try await store.stored(
                cluster: cluster, group: ServiceName.stateUpdater.group,
                partitions: unique.map { ($0.partition.topic, $0.partition.partition) })
            #expect(stored.map(\.next.offset) == unique.map(\.end))
            #expect(stored.map { $0.evidence } == unique.map(\.metadata))
            #expect(unique.map(\.end).reduce(0, +) == 200)
            let auditLog = try await OperatorActionStore(harness.connection).newest(10)
            #expect(auditLog.map(\.operation) == ["offsets begin"] && auditLog.map(\.actor) == ["olga"])
        }
    }

    @Test func `A worker reads only what was written since offsets begin`() async throws {
        try await Self.with { harness, _ in
            #expect(await Self.run(harness).code == 0)
            let last = ProducerRecord(topic: Self.partition.topic, key: Array("7".utf8), value: [2])
            try await harness.producer.send([last])
            let group = ServiceName.verifier.group
            let member = try Consumer(
                harness.broker.configuration, group: group, offsetReset: .error, logger: .quiet)
            let reader = try Consumer(harness.broker.configuration, group: group, logger: .quiet)
            try await member.subscribe(to: [Self.partition.topic])
            let source = KafkaSource(
                member, reader: reader, for: "test", startingAt: CommittedPositions(member), of: Self.partition.topic,
                now: { Date() }, logger: .quiet)
            var batch: Batch?
            while batch == nil { batch = try await source.next() }
            #expect(batch?.records.map(\.wire.value) == [[2]])
            try await source.close()
        }
    }

    @Test func `offsets begin includes webhooks where they ran in another cluster`() async throws {
        try await Self.with { harness, _ in
            let store = PositionStore(harness.connection)
            _ = try await store.establish(
                cluster: "another", group: ServiceName.webhooks.group,
                lowWatermarks: [LogPosition(topic: Topics.changed.name, partition: 0, offset: 5)])
            let page = try await Self.run(harness, ["--at", "0s", "--json"]).json(as: Page.self)
            #expect(page.isStored && page.groups.contains { $0.group == ServiceName.webhooks.group })
            let stored = try await store.all(cluster: page.cluster, group: ServiceName.webhooks.group)
            #expect(stored.count == Topics.changed.route.partitions)
        }
    }

    @Test func `offsets begin replaces offsets only when told`() async throws {
        try await Self.with { harness, admin in
            let first = LogPosition(topic: Self.unique.topic, partition: 0, offset: 0)
            let (cluster, group) = (try await admin.clusterId(), ServiceName.stateUpdater.group)
            let store = PositionStore(harness.connection)
            _ = try await store.establish(cluster: cluster, group: group, lowWatermarks: [first])
            for arguments in [["--at", "0s"], ["--at", "0s", "--dry-run"]] {
                let outcome = await Self.run(harness, arguments)
                #expect(outcome.code == 1 && outcome.errorOutput.contains("--replace"), "\(outcome.errorOutput)")
                #expect(outcome.errorOutput.contains(group) && !outcome.errorOutput.contains("verifier"))
            }
            #expect(try await store.all(cluster: cluster, group: group) == [first])
            #expect(await Self.run(harness, ["--at", "0s", "--replace"]).code == 0)
            #expect(try await store.all(cluster: cluster, group: group).map(\.offset).reduce(0, +) == 200)
        }
    }

    @Test func `offsets begin changes no group that has members`() async throws {
        try await Self.with { harness, admin in
            let member = try Consumer(
                harness.broker.configuration, group: ServiceName.verifier.group, logger: .quiet)
            try await member.subscribe(to: [Self.partition.topic])
            while try await member.assignment().isEmpty {
                guard case .assigned(let partitions) = try await member.turn(limit: 1, wait: .seconds(1)) else {
                    continue
                }
                try await member.assign(
                    partitions.map { TopicPartitionOffset($0, offset: TopicPartitionOffset.beginning) })
            }
            let outcome = await Self.run(harness, ["--at", "0s", "--replace"])
            #expect(outcome.code == 1, "\(outcome.text)")
            #expect(
                outcome.errorOutput.contains("storekeeper.verifier: the group has members"), "\(outcome.errorOutput)")
            let stored = try await PositionStore(harness.connection).all(
                cluster: try await admin.clusterId(), group: ServiceName.stateUpdater.group)
            #expect(stored.isEmpty)
            await member.close(deadline: .seconds(5))
        }
    }

    @Test func `offsets begin skips nothing where the brokers find no record by its time`() async throws {
        try await Self.with { harness, admin in
            let outcome = await Self.run(harness, ["--at", "1h"])
            #expect(outcome.code == 1 && outcome.errorOutput.contains("do not find records by their time"))
            #expect(outcome.errorOutput.contains("The embedded broker of storekeeper dev and Deploy/run is such a one"))
            let lags = try await Self.committed(admin, ServiceName.verifier.group, Topics.received.name)
            #expect(lags.allSatisfy { $0.committed == nil })
        }
    }

    @Test func `offsets begin rejects a time to come, and needs one`() async throws {
        let now = Date()
        let outcome = await CommandOutcome.of(
            ["offsets", "begin", "--at", now.addingTimeInterval(60).ISO8601Format()],
            environment: ["KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1", "DATABASE_URL": "postgres://a@127.0.0.1:1/b"],
            now: now)
        #expect(outcome.code == 64 && outcome.errorOutput.contains("in the future"))
        #expect(await CommandOutcome.of(["offsets", "begin"]).code == 64)
    }
}
