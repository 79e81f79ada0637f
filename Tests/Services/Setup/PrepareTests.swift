import Contracts
import Development
import Foundation
import Kafka
import Logging
import Postgres
import Storage
import TestSupport
import Testing

@testable import Setup

@Suite struct PrepareTests {
    private static func prepare(
        _ broker: DevelopmentBroker, _ database: PostgresConfiguration, principals: String? = nil
    ) throws -> Prepare {
        let logger = Logger.quiet
        let connection = TestDatabase.connection(database)
        let admin = try KafkaAdmin(broker.configuration, patience: .seconds(3), logger: logger)
        return Prepare(
            admin: admin, replicationFactor: 1,
            accessControl: principals.map { AccessControl(admin: admin, prefix: $0) },
            migrator: Migrator(connection), retention: RetentionStore(connection), grants: Grants(connection),
            audit: PrivilegeAudit(connection), now: { Date(timeIntervalSince1970: 1_780_000_000) }, logger: logger)
    }

    @Test func `setup leaves existing topics and schema unchanged`() async throws {
        let broker = try DevelopmentBroker(routes: Topics.all)
        try await TestDatabase.use(isMigrated: false) { database in
            try await Self.prepare(broker, database).run()
            try await Self.prepare(broker, database).run()
            let connection = TestDatabase.connection(database)
            #expect(try await Migrator(connection).migrate().isEmpty)
            await connection.close()
        }
    }

    @Test func `setup leaves the database alone where topics cannot be created`() async throws {
        // The development broker supports no request to create a topic.
        let broker = try DevelopmentBroker(routes: Topics.all.dropLast())
        try await TestDatabase.use(isMigrated: false) { database async throws in
            await #expect(throws: KafkaError.self) { try await Self.prepare(broker, database).run() }
            let connection = TestDatabase.connection(database)
            let applied = try await Migrator(connection).migrate()
            #expect(applied.count == Migration.all.count)
            await connection.close()
        }
    }

    @Test func `setup rejects topics that the broker created by itself, after everything else is done`() async throws {
        let broker = try DevelopmentBroker(topics: Topics.all.map { ($0.name, min($0.partitions, 1)) })
        try await TestDatabase.use(isMigrated: false) { database in
            let error = await #expect(throws: TopicsDiffer.self) { try await Self.prepare(broker, database).run() }
            #expect(error?.differences.count == Topics.all.count { $0.partitions > 1 })
            #expect(error?.description.contains("kafka-topics.sh --alter --topic notifications.received") == true)
            let connection = TestDatabase.connection(database)
            try await Migrator(connection).check()
            await connection.close()
        }
    }

    /// Deploy/checks/compose with a Kafka image covers brokers that have them.
    @Test func `setup stops where ACLs are meant and the brokers have none, and says what to do`() async throws {
        let broker = try DevelopmentBroker(routes: Topics.all)
        try await TestDatabase.use(isMigrated: false) { database async throws in
            let error = await #expect(throws: ACLsRefused.self) {
                try await Self.prepare(broker, database, principals: "User:CN=storekeeper-").run()
            }
            #expect(error?.description.contains("the development broker has none") == true)
            #expect(error?.description.contains("Alter on the cluster") == true)
            #expect(error?.description.contains("leave STOREKEEPER_ACL_PRINCIPALS unset") == true)
        }
    }

    @Test func `setup requires the acknowledgement of all replicas but one`() {
        let route = Topics.received.route
        #expect(TopicSpecification(route, replicationFactor: 3).configuration["min.insync.replicas"] == "2")
        #expect(TopicSpecification(route, replicationFactor: 1).configuration["min.insync.replicas"] == "1")
        #expect(TopicSpecification(route, replicationFactor: 3).configuration["retention.ms"] == "604800000")
    }
}
