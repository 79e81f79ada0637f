import Contracts
import Foundation
import Postgres
import TestSupport
import Testing

@testable import Storage

@Suite struct MigratorTests {
    static func migration(_ version: Int32, _ sql: String) -> Migration {
        Migration(version, "step", Array(sql.utf8))
    }

    @Test func `Migrator applies a migration once`() async throws {
        try await TestDatabase.use(isMigrated: false) { database async throws in
            let migrator = Migrator(TestDatabase.connection(database))
            #expect(try await migrator.migrate() == Migration.all)
            #expect(try await migrator.migrate() == [])
        }
    }

    @Test func `Many setups at once apply each migration once`() async throws {
        try await TestDatabase.use(isMigrated: false) { database async throws in
            let applied = try await withThrowingTaskGroup(of: [Migration].self) { group in
                for _ in 0..<6 {
                    group.addTask { try await Migrator(TestDatabase.connection(database)).migrate() }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(applied == Migration.all)
        }
    }

    /// The state-updater's batch has read the erased accounts and written one table when a migration of a new release begins.
    @Test func `A migration lets a batch end that is under way, and does not meet it halfway`() async throws {
        try await TestDatabase.use { database async throws in
            let batch = TestDatabase.connection(database)
            try await batch.run(
                unsafeScript: """
                    begin;
                    select count(*) from erased_account;
                    lock table transaction in row exclusive mode
                    """)
            let next = Self.migration(
                9999,
                """
                lock table timeline in share mode;
                lock table transaction in share row exclusive mode
                """)
            let migrator = Migrator(TestDatabase.connection(database), migrations: Migration.all + [next])
            async let migrated = migrator.migrate()
            _ = try await TestDatabase.blockedBackends(asking: TestDatabase.connection(database))
            try await batch.run(unsafeScript: "lock table timeline in row exclusive mode; commit")
            #expect(try await migrated == [next])
        }
    }

    @Test func `A preview of an upload that waits for a migration holds nothing that the migration needs`()
        async throws
    {
        try await TestDatabase.use { database async throws in
            let holder = TestDatabase.connection(database)
            try await holder.run(unsafeScript: "begin; lock table canary in access share mode")
            let next = Self.migration(
                9999,
                """
                lock table canary in access exclusive mode;
                lock table sharing_policy, chosen_account, purchase_account in access exclusive mode
                """)
            let migrator = Migrator(TestDatabase.connection(database), migrations: Migration.all + [next])
            async let migrated = migrator.migrate()
            let observer = TestDatabase.connection(database)
            _ = try await TestDatabase.blockedBackends(asking: observer)
            let previews = StatePreviewStore(TestDatabase.connection(database))
            async let preview = previews.preview(
                of: [], in: CoverageStore.App(.production, "com.example.app"), account: UUID(), at: Fixtures.now)
            _ = try await TestDatabase.blockedBackends(2, asking: observer)
            try await holder.run(unsafeScript: "commit")
            #expect(try await migrated == [next])
            #expect(try await preview.claims.isEmpty)
        }
    }

    @Test func `Migrator creates a configured schema where it is missing`() async throws {
        try await TestDatabase.use(isMigrated: false) { database async throws in
            var elsewhere = database
            elsewhere.schema = "storekeeper"
            let connection = TestDatabase.connection(elsewhere)
            _ = try await Migrator(connection).migrate()
            let rows = try await connection.execute(
                Statement("test-schema", "select count(*) as count from storekeeper.notification"))
            #expect(try rows[0].value("count") == Int64(0))
            // The other schema is not changed.
            #expect(try await Migrator(TestDatabase.connection(database)).migrate() == Migration.all)
        }
    }

    @Test func `Migrator rejects a migration changed afterwards, with its number and name`() async throws {
        try await TestDatabase.connected(isMigrated: false) { connection async throws in
            let first = Self.migration(1, "create table a (id integer)")
            _ = try await Migrator(connection, migrations: [first]).migrate()
            let changed = Self.migration(1, "create table a (id bigint)")
            await #expect(throws: Migrator.Failure.changed(1, "step")) {
                try await Migrator(connection, migrations: [changed, Self.migration(2, "create table b ()")]).migrate()
            }
            await #expect(throws: Migrator.Failure.changed(1, "step")) {
                try await Migrator(connection, migrations: [changed, Self.migration(2, "create table b ()")]).check()
            }
            let sentence = Migrator.Failure.changed(1, "step").description
            #expect(sentence.contains("another build") && sentence.contains("setup"))
            #expect(try await Migrator(connection, migrations: [first]).migrate() == [])
            try await Migrator(connection, migrations: [first]).check()
        }
    }

    @Test func `Missing migrations are named, and those of a newer build are ignored`() async throws {
        try await TestDatabase.connected(isMigrated: false) { connection async throws in
            let all = (1...3).map { Self.migration($0, "create table a\($0) ()") }
            await #expect(throws: Migrator.Failure.missing([1, 2])) {
                try await Migrator(connection, migrations: Array(all[..<2])).check()
            }
            _ = try await Migrator(connection, migrations: Array(all[..<2])).migrate()
            try await Migrator(connection, migrations: Array(all[..<1])).check()
            await #expect(throws: Migrator.Failure.newer(2, known: 1)) {
                try await Migrator(connection, migrations: Array(all[..<1])).check(acceptsNewer: false)
            }
            await #expect(throws: Migrator.Failure.missing([3])) {
                try await Migrator(connection, migrations: all).check()
            }
        }
    }

    @Test
    func `Migrator rejects a schema from before the first release in setup and in every service, with what to do`()
        async throws
    {
        try await TestDatabase.connected(isMigrated: false) { connection async throws in
            _ = try await Migrator(connection, migrations: [Migration(1, "ledger", Array("create table a ()".utf8))])
                .migrate()
            let rejection = Migrator.Failure.otherSchema(1, found: "ledger", known: "pipeline")
            await #expect(throws: rejection) { try await Migrator(connection).migrate() }
            await #expect(throws: rejection) { try await Migrator(connection).check() }
            #expect(rejection.description.contains("start over"))
        }
    }

    /// Its first migrations have the names of this build's, and other contents.
    @Test func `A database that the migrations before the baseline set up is refused by their names, and not changed`()
        async throws
    {
        try await TestDatabase.use(isMigrated: false) { database async throws in
            let connection = TestDatabase.connection(database)
            let earlier = [
                Migration(1, "pipeline", Array("create table a ()".utf8)),
                Migration(10, "erasure", Array("create table b ()".utf8)),
                Migration(25, "extensions", Array("create table c ()".utf8)),
            ]
            _ = try await Migrator(connection, migrations: earlier).migrate()
            let rejection = Migrator.Failure.otherSchema(10, found: "erasure", known: "webhooks")
            await #expect(throws: rejection) { try await Migrator(connection).migrate() }
            await #expect(throws: rejection) { try await Migrator(connection).check() }
            let sentence = rejection.description
            #expect(sentence.contains("Keep running the build that set it up") && sentence.contains("empty database"))
            // The build that set it up goes on.
            #expect(try await Migrator(connection, migrations: earlier).migrate() == [])
            let rows = try await connection.execute(
                unsafeSQL: "select to_regclass('notification') is null as is_unchanged")
            #expect(try rows[0].value("is_unchanged", as: Bool.self))
        }
    }

    @Test func `Migrator rejects a schema from a newer build`() async throws {
        try await TestDatabase.connected(isMigrated: false) { connection async throws in
            let migrations = [Self.migration(1, "create table a ()"), Self.migration(2, "create table b ()")]
            _ = try await Migrator(connection, migrations: migrations).migrate()
            await #expect(throws: Migrator.Failure.newer(2, known: 1)) {
                try await Migrator(connection, migrations: [migrations[0]]).migrate()
            }
        }
    }

    @Test func `Migrator leaves nothing of a failing migration behind, not even its predecessors of the same run`()
        async throws
    {
        try await TestDatabase.connected(isMigrated: false) { connection async throws in
            let good = Self.migration(1, "create table a ()")
            let bad = Self.migration(2, "create table b (); create table a ()")
            await #expect(throws: PostgresError.self) {
                try await Migrator(connection, migrations: [good, bad]).migrate()
            }
            #expect(try await Migrator(connection, migrations: [good]).migrate() == [good])
        }
    }

    @Test func `Every file in the folder is listed under its own number and name`() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../../Shared/Storage/Schema/Migrations").standardizedFileURL
        // The grants have no number: they run each time.
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0 != "grants.sql" }
            .sorted()
        #expect(files == Migration.all.map { String(format: "%04d_", $0.version) + $0.name + ".sql" })
        for (file, migration) in zip(files, Migration.all) {
            #expect(try Array(Data(contentsOf: folder.appending(path: file))) == migration.sql)
        }
    }
}
