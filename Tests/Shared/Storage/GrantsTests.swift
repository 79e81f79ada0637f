import Contracts
import Foundation
import Postgres
import Subscriptions
import TestSupport
import Testing

@testable import Storage

@Suite(.hangLimit) struct GrantsTests {
    @Test func `Applying grants a second time changes nothing`() async throws {
        try await Self.withGrants { _, owner async throws in
            #expect(try await Grants(owner).apply() == [])
            #expect(try await Migrator(owner).migrate() == [])
        }
    }

    @Test func `Every table has a role that fills it`() async throws {
        try await Self.withGrants { _, owner async throws in
            let unfilled = try await owner.execute(Self.unfilled).map { row in try row.value("name", as: String.self) }
            // These are filled by the migrations, and by the function that erases.
            #expect(
                Set(unfilled) == ["api_cursor_secret", "console_secret", "erased_account", "schema_migration"])
        }
    }

    @Test
    func `State-updater applies notifications, never takes one back, and changes nothing that proves them complete`()
        async throws
    {
        try await Self.withGrants { database, _ async throws in
            try await Self.acting(as: "storekeeper_state_updater", in: database) { worker async throws in
                var fixtures = Fixtures(seed: 7)
                let entries = fixtures.entries(20)
                guard
                    case .applied(let applied) = try await LedgerStore(worker).apply(
                        entries, moving: [], recordedAt: Fixtures.now)
                else {
                    Issue.record("fenced")
                    return
                }
                #expect(applied.inserted == 20)
                for (table, time) in [
                    ("notification", "recorded_at"), ("notification_payload", "recorded_at"),
                    ("conflicting_notification", "recorded_at"), ("timeline", "occurred_at"),
                ] {
                    try await Self.expectDenied(worker, "delete from \(table)")
                    try await Self.expectDenied(worker, "update \(table) set \(time) = now()")
                }
                for table in ["transaction", "subscription"] {
                    try await Self.expectDenied(worker, "delete from \(table)")
                }
                try await Self.expectDenied(worker, "insert into seen_notification (seen_at) values (now())")
                try await Self.expectDenied(worker, "insert into canary (requested_at) values (now())")
                try await Self.expectDenied(worker, "delete from operator_action")
                try await Self.expectDenied(worker, "delete from coverage_day")
                try await Self.expectDenied(worker, "delete from schema_migration")
                try await Self.expectDenied(worker, "create table mine (id integer)")
                try await Self.expectDenied(worker, "drop table notification")
                try await Self.expectDenied(worker, "alter table notification disable trigger all")
                try await Self.expectDenied(worker, "truncate notification")
            }
        }
    }

    @Test(arguments: ["storekeeper_deduplicator", "storekeeper_recovery"])
    func `Role writes its own tables and can change neither ledger nor state`(role: String) async throws {
        try await Self.withGrants { database, owner async throws in
            let ours =
                ["storekeeper_deduplicator": ["seen_notification"]][role] ?? [
                    "rejected", "lease", "recovery_window", "recovery_page", "coverage", "coverage_day",
                    "recovery_item",
                    "send_attempt", "history_revision", "recovery_answer", "postponed_request", "apple_request_limit",
                ]
            let tables = try await owner.execute(Self.tables).map { row in try row.value("name", as: String.self) }
            try await Self.acting(as: role, in: database) { worker async throws in
                for table in tables where !ours.contains(table) {
                    for statement in ["insert into \(table) default values", "delete from \(table)"] {
                        try await Self.expectDenied(worker, statement)
                    }
                }
            }
        }
    }

    @Test func `A scheduler writes its own tables and cannot change the ledger`() async throws {
        try await Self.withGrants { database, _ async throws in
            try await Self.acting(as: "storekeeper_scheduler", in: database) { scheduler async throws in
                try await HeartbeatStore(scheduler).record([
                    IngestHeartbeat(
                        instance: "a", minute: Date(milliseconds: 60_000), accepted: 1, rejected: [503: 1])
                ])
                for table in ["notification", "subscription", "transaction", "timeline"] {
                    _ = try await scheduler.run(unsafeScript: "select count(*) from \(table)")
                    try await Self.expectDenied(scheduler, "delete from \(table)")
                }
            }
        }
    }

    @Test func `Tables for auditors are written once by every role`() async throws {
        try await Self.withGrants { database, _ async throws in
            try await Self.acting(as: "storekeeper_scheduler", in: database) { scheduler async throws in
                let actions = OperatorActionStore(scheduler)
                try await actions.record([
                    OperatorAction(
                        actedAt: Fixtures.now, actor: "ann", action: "rejected.resolve", subject: "a", note: nil)
                ])
                try await Self.expectDenied(scheduler, "update operator_action set actor = 'bob'")
                try await Self.expectDenied(scheduler, "delete from operator_action")
                try await Self.expectDenied(scheduler, "delete from coverage_day")
            }
        }
    }

    @Test func `An operator can reset the state-updater's offset, and cannot move it`() async throws {
        try await Self.withGrants { database, owner async throws in
            let first = LogPosition(topic: "t", partition: 0, offset: 0)
            _ = try await PositionStore(owner).establish(cluster: "c", group: "g", lowWatermarks: [first])
            try await Self.acting(as: "storekeeper_scheduler", in: database) { scheduler async throws in
                try await Self.expectDenied(scheduler, "update consumer_position set next_offset = 7")
                #expect(try await PositionStore(scheduler).delete(cluster: "c", group: "g", topic: "t") == 1)
            }
        }
    }

    @Test func `A reader reads everything and changes nothing`() async throws {
        try await Self.withGrants { database, owner async throws in
            let tables = try await owner.execute(Self.tables).map { row in try row.value("name", as: String.self) }
            #expect(tables.count > 15)
            try await Self.acting(as: "storekeeper_reader", in: database) { reader async throws in
                _ = try await reader.run(unsafeScript: "select * from account_access")
                for table in tables {
                    _ = try await reader.run(unsafeScript: "select count(*) from \(table)")
                    try await Self.expectDenied(reader, "delete from \(table)")
                }
            }
        }
    }

    @Test func `The API reads only the tables of its answers and writes only its own tables`() async throws {
        try await Self.withGrants { database, owner async throws in
            let tables = try await owner.execute(Self.tables).map { row in try row.value("name", as: String.self) }
            let own = ["api_key_use", "api_idempotency", "customer", "manual_grant"]
            let added = [
                "account_claim", "recovery_request", "operator_action", "entitlement_definition", "account_app",
                "customer_consent", "purchase_transfer", "apple_request_limit",
            ]
            try await Self.acting(as: "storekeeper_api", in: database) { api async throws in
                _ = try await api.run(unsafeScript: "select * from account_access")
                for table in ["consumer_position", "operator_action", "rejected", "recovery_item", "coverage"] {
                    try await Self.expectDenied(api, "select count(*) from \(table)")
                }
                for table in tables where !own.contains(table) {
                    try await Self.expectDenied(api, "delete from \(table)")
                    // Rows are added and never deleted.
                    guard !added.contains(table) else { continue }
                    try await Self.expectDenied(api, "insert into \(table) default values")
                }
                for table in own { try await api.run(unsafeScript: "delete from \(table)") }
                try await Self.expectDenied(api, "create table mine (id integer)")
                try await api.run(unsafeScript: "select set_product_durations('app', '{pass}', '{P1M}')")
                try await Self.expectDenied(api, "update product set duration = 'P1Y'")
            }
            try await Self.acting(as: "storekeeper_console", in: database) { console async throws in
                try await Self.expectDenied(console, "select set_product_durations('app', '{pass}', '{P1Y}')")
            }
            #expect(try await ProductStore(owner).durations().map(\.duration) == ["P1M"])
        }
    }

    @Test func `The console changes what people give and request, and nothing that Apple said`() async throws {
        try await Self.withGrants { database, owner async throws in
            let tables = try await owner.execute(Self.tables).map { row in try row.value("name", as: String.self) }
            let own = ["console_login", "console_session", "console_selection", "chosen_account"]
            let added = [
                "operator_action", "recovery_window", "recovery_request", "manual_grant", "apple_request_limit",
            ]
            try await Self.acting(as: "storekeeper_console", in: database) { console async throws in
                _ = try await console.run(unsafeScript: "select * from account_access")
                for table in ["api_key", "api_cursor_secret", "api_idempotency", "seen_notification"] {
                    try await Self.expectDenied(console, "select count(*) from \(table)")
                }
                for table in tables where !own.contains(table) {
                    try await Self.expectDenied(console, "delete from \(table)")
                    guard !added.contains(table) else { continue }
                    try await Self.expectDenied(console, "insert into \(table) default values")
                }
                for table in own { try await console.run(unsafeScript: "delete from \(table)") }
                try await Self.expectDenied(console, "update operator_action set actor = 'bob'")
                try await Self.expectDenied(console, "create table mine (id integer)")
            }
        }
    }

    @Test func `A user with the migrator's role owns all objects and can migrate`() async throws {
        try await Self.withGrants { database, _ async throws in
            try await Self.acting(as: "storekeeper_migrator", in: database) { migrator async throws in
                #expect(try await Migrator(migrator).migrate() == [])
                try await migrator.run(unsafeScript: "alter table notification add column later integer")
                try await migrator.run(unsafeScript: "create table later (id integer)")
            }
        }
    }

    @Test func `A superuser may assume every role, and a user those granted to it`() async throws {
        try await Self.withGrants { database, owner async throws in
            #expect(try await Grants(owner).available() == Set(Grants.Role.allCases))
            try await Self.acting(as: "storekeeper_recovery", in: database) { worker async throws in
                #expect(try await Grants(worker).available() == [.recovery])
            }
        }
    }

    // MARK: -

    private static func withGrants(
        _ body: (PostgresConfiguration, PostgresConnection) async throws -> Void
    ) async throws {
        try await TestDatabase.use { database in
            let owner = TestDatabase.connection(database)
            #expect(try await Grants(owner).apply() == [])
            try await body(database, owner)
            await owner.close()
        }
    }

    private static func acting(
        as role: String, in database: PostgresConfiguration, _ body: (PostgresConnection) async throws -> Void
    ) async throws {
        var configuration = database
        configuration.url += "?options=-crole%3D\(role)"
        let connection = TestDatabase.connection(configuration)
        try await body(connection)
        await connection.close()
    }

    private static func expectDenied(
        _ connection: PostgresConnection, _ sql: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let error = await #expect(throws: PostgresError.self, sourceLocation: sourceLocation) {
            try await connection.run(unsafeScript: sql)
        }
        let sqlstate = try #require(error).sqlState
        #expect(sqlstate == "42501", "\(sql) was not denied", sourceLocation: sourceLocation)
    }

    static let tables = Statement(
        "test-tables",
        """
        select relname::text as name from pg_class
        where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition
        """)

    static let unfilled = Statement(
        "test-unfilled",
        """
        select relname::text as name from pg_class
        where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition
            and not has_table_privilege('storekeeper_deduplicator', oid, 'insert')
            and not has_table_privilege('storekeeper_state_updater', oid, 'insert')
            and not has_table_privilege('storekeeper_recovery', oid, 'insert')
            and not has_table_privilege('storekeeper_scheduler', oid, 'insert')
            and not has_table_privilege('storekeeper_api', oid, 'insert')
            and not has_table_privilege('storekeeper_console', oid, 'insert')
        """)
}
