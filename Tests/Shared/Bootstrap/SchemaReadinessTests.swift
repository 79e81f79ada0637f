import Bootstrap
import CoreMetrics
import Foundation
import Logging
import Postgres
import ServerAPI
import Storage
import Synchronization
import TestSupport
import Testing

@testable import Chassis

@Suite(.hangLimit) struct SchemaReadinessTests {
    private struct Configuration: DatabaseVariables {
        let database = Variable.databaseURL
        let databasePasswordFile = Variable.databasePasswordFile
        let schema = Variable.databaseSchema
    }

    private static let logger = Logger.quiet

    /// Runs it with a database until `body` ends; hands over what `/readyz` answers from.
    private static func running(
        _ url: String, apple: AppleTime? = nil, logger: Logger = logger, _ body: (Health) async throws -> Void
    ) async throws {
        let context = ServiceContext(
            settings: try Settings(Configuration(), environment: ["DATABASE_URL": url]), logger: logger,
            health: Health(instant: { .now }), tracer: Tracer(isOn: false, random: { 7 }),
            clock: ProcessClock(now: { Date(timeIntervalSince1970: 0) }, instant: { .now }), instance: "test",
            environment: [:])
        try await whileRunning([SchemaReadiness(context, service: "test", apple: apple)], logger: logger) {
            try await body(context.health)
        }
    }

    /// Ends with the test's time limit.
    private static func wait(until isSo: @autoclosure () -> Bool) async throws {
        while !isSo() {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    @Test func `Process is ready when setup has made what its build needs, and says until then what is missing`()
        async throws
    {
        try await TestDatabase.use(isMigrated: false) { database async throws in
            try await Self.running(database.url) { health in
                try await Self.wait(
                    until: health.notReady.contains { $0.contains("run setup of the same build") })
                let connection = TestDatabase.connection(database)
                _ = try await Migrator(connection).migrate()
                try await Self.wait(until: health.notReady.isEmpty)
                // What goes away later is tried again, and takes nothing back.
                try await connection.run(unsafeScript: "drop table schema_migration")
                #expect(health.notReady.isEmpty)
            }
        }
    }

    @Test func `Process is not ready before a schema whose migration differs from that of its build`() async throws {
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            let digest = try await connection.execute(
                unsafeSQL: "select digest from schema_migration where version = 2")[0]
                .value("digest", as: [UInt8].self)
            try await connection.run(unsafeScript: "update schema_migration set digest = '\\x00' where version = 2")
            try await Self.running(database.url) { health in
                try await Self.wait(
                    until: health.notReady.contains { $0.contains("set up by another build, in which migration 2") })
                _ = try await connection.execute(
                    unsafeSQL: "update schema_migration set digest = $1::bytea where version = 2", digest)
                try await Self.wait(until: health.notReady.isEmpty)
            }
        }
    }

    @Test func `Process whose clock differs from the database's says so, once`() async throws {
        try await TestDatabase.use { database async throws in
            let lines = LogLines()
            // Its clock is at 1970.
            try await Self.running(database.url, logger: lines.logger) { _ in
                try await Self.wait(until: !lines.containing("the database's clock is").isEmpty)
            }
            let warnings = lines.all.filter { $0.hasPrefix("warning") }
            #expect(warnings.count == 1 && warnings[0].contains("ahead of this machine's"))
        }
    }

    @Test func `SchemaReadiness ends the series of Apple's clock where no answer tells it any more`() async throws {
        try await TestDatabase.use { database async throws in
            let elapsed = Mutex(Duration.zero)
            let apple = AppleTime(elapsed: { elapsed.withLock(\.self) })
            apple.answered(Date(timeIntervalSince1970: 0), after: .zero)
            let registry = MetricRegistry(metrics: Metric.all)
            func isExposed() -> Bool { registry.exposition().contains(Metric.appleClockDifference.name) }
            try await withMetricsFactory(registry) {
                try await Self.running(database.url, apple: apple) { _ in try await Self.wait(until: isExposed()) }
                elapsed.withLock { $0 = .seconds(86_400) }
                try await Self.running(database.url, apple: apple) { _ in try await Self.wait(until: !isExposed()) }
            }
        }
    }

    @Test func `SchemaReadiness is not ready without a server, says so, and stops`() async throws {
        try await Self.running("postgres://none@127.0.0.1:1/nothing") { health in
            #expect(health.notReady.count == 1)
            try await Self.wait(
                until: health.notReady.contains { $0.hasPrefix("database: ") && $0.contains("refused") })
        }
    }
}
