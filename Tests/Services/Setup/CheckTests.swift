import Contracts
import Development
import Kafka
import Logging
import Postgres
import Storage
import TestSupport
import Testing

@testable import Setup

@Suite struct CheckTests {
    private static let logger = Logger.quiet

    private static func rows(_ broker: DevelopmentBroker, _ connection: PostgresConnection) async throws -> [[String]] {
        try await Check(
            admin: try KafkaAdmin(broker.configuration, patience: .seconds(3), logger: logger), replicationFactor: 1,
            accessControl: nil, migrator: Migrator(connection), grants: Grants(connection),
            audit: PrivilegeAudit(connection)
        ).rows()
    }

    @Test func `setup --check finds nothing after setup, and changes nothing where it finds something`()
        async throws
    {
        try await PipelineHarness.with { harness in
            let (broker, connection) = (harness.broker, harness.connection)
            // Roles belong to the server, where other tests create them meanwhile.
            func privileges() async throws -> [[String]] {
                try await Self.rows(broker, connection).filter { $0[3].hasPrefix("privileges of") }
            }
            let before = try await privileges()
            #expect(!before.isEmpty)
            #expect(try await privileges() == before, "the first check granted")
            _ = try await Grants(connection).apply()
            let after = try await Self.rows(broker, connection)
            #expect(after.isEmpty, "\(after)")
        }
    }

    @Test func `setup --check names a migration that is another one than this build's, as setup does`() async throws {
        try await PipelineHarness.with { harness async throws in
            try await harness.connection.run(
                unsafeScript: "update schema_migration set digest = sha256('another') where version = 3")
            let rows = try await Self.rows(harness.broker, harness.connection)
            let name = try #require(Migration.all.first { $0.version == 3 }?.name)
            let failure = Migrator.Failure.changed(3, name)
            #expect(rows.map { Array($0.suffix(2)) } == [["another one", "\(failure)"]])
            await #expect(throws: failure) { try await Migrator(harness.connection).migrate() }
        }
    }

    @Test func `setup --check names missing topics and partitions, and a schema that was never migrated`() async throws
    {
        let broker = try DevelopmentBroker(topics: [(Topics.received.name, 1)])
        try await TestDatabase.connected(isMigrated: false) { connection in
            let rows = try await Self.rows(broker, connection)
            #expect(rows.first?.prefix(4) == [Topics.received.name, "partitions", "16", "1"])
            #expect(rows.count { $0[3] == "missing" } == Topics.all.count - 1)
            #expect(rows.last?[1] == "schema")
            let lines = tableText(rows).split(separator: "\n")
            #expect(lines.count == rows.count + 1)
        }
    }
}

@Suite struct TopicDifferenceTests {
    private let meant = TopicSpecification(Topics.received.route, replicationFactor: 3)

    private func state(_ settings: [String: String], partitions: Int = 16, copies: Int = 3) -> TopicState {
        let all = ["cleanup.policy": "delete", "min.insync.replicas": "2", "retention.ms": "604800000"]
            .merging(settings) { $1 }
        return TopicState(
            partitions: partitions, replicationFactor: copies,
            configuration: all.mapValues { TopicState.Setting(value: $0, isOverridden: true) })
    }

    @Test func `TopicDifference finds every setting below the expected one, and what repairs it`() {
        let found = TopicDifference.all(
            meant,
            state(
                ["cleanup.policy": "compact", "min.insync.replicas": "1", "retention.ms": "1000"], partitions: 1,
                copies: 1))
        #expect(
            found.map(\.setting)
                == ["partitions", "replication factor", "cleanup.policy", "min.insync.replicas", "retention.ms"])
        #expect(found.suffix(3).map(\.remedy) == [.set("delete"), .set("2"), .set("604800000")])
    }

    @Test func `TopicDifference leaves alone what an operator has more of`() {
        #expect(TopicDifference.all(meant, state([:])).isEmpty)
        #expect(TopicDifference.all(meant, state(["retention.ms": "-1"], partitions: 128, copies: 5)).isEmpty)
        #expect(TopicDifference.all(meant, state(["retention.ms": "1209600000"])).isEmpty)
    }
}
