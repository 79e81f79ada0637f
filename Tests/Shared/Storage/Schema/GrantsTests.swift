import Contracts
import Foundation
import Postgres
import Records
import Subscriptions
import TestSupport
import Testing
import WebhookDelivery

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
            // These are filled by the migrations, by the function that erases, and by triggers of another table.
            #expect(
                Set(unfilled) == [
                    "api_cursor_secret", "console_secret", "erased_account", "erased_purchase", "insight_converted",
                    "insight_month", "insight_position", "relay_arrival", "schema_migration",
                ])
        }
    }

    @Test func `Webhooks enqueues, sends and keeps its log, and reads or changes nothing else`() async throws {
        try await Self.withGrants { database, owner async throws in
            let start = Fixtures.now
            var fixtures = Fixtures(seed: 3)
            let bought = AccessEndStoreTests.entry("SUBSCRIBED", signed: 0, &fixtures)
            try await AccessEndStoreTests.apply([bought], at: 0, owner)
            let endpoint = WebhookEndpoint(
                id: UUID(), environment: .production, url: "https://example.com", createdAt: start)
            let relay = WebhookEndpoint(
                id: UUID(), environment: .production, url: "https://example.com/apple", kind: .apple,
                createdAt: start.addingTimeInterval(-1e9))
            try await Self.acting(as: "storekeeper_operator", in: database) { operator_ async throws in
                let endpoints = WebhookEndpointStore(operator_)
                try await endpoints.create(endpoint, audit: WebhookFixture.audit)
                try await endpoints.create(relay, audit: WebhookFixture.audit)
                #expect(try await endpoints.pause(endpoint.id, audit: WebhookFixture.audit))
                #expect(
                    try await endpoints.resume(endpoint.id, fromNow: false, at: start, audit: WebhookFixture.audit))
                let replays = WebhookReplayStore(operator_)
                let all = WebhookReplayStore.Selection.purchase("1")
                #expect(
                    try await replays.replay(all, to: endpoint.id, at: start, audit: WebhookFixture.audit) == 1)
                try await Self.expectDenied(
                    operator_, "delete from webhook_delivery", "insert into webhook_attempt (replay) values (1)")
            }
            try await Self.acting(as: "storekeeper_webhooks", in: database) { webhooks async throws in
                let sequences = try await owner.execute(unsafeSQL: "select id from timeline")
                    .map { row in try row.value("id", as: Int64.self) }
                let queue = WebhookQueueStore(webhooks)
                _ = try await WebhookRetention(webhooks).run(at: start)
                let positions = PositionStore(webhooks)
                _ = try await positions.establish(
                    cluster: "c", group: "g", lowWatermarks: [.init(topic: "t", partition: 0, offset: 0)])
                #expect(try await queue.enqueue(sequences, moving: [], at: start) == .stored(1))
                #expect(try await queue.takeProbes([endpoint.id]) == [endpoint.id])
                let claims = try await queue.claim([endpoint.id: 5], probes: [], lease: UUID())
                #expect(claims.count == 1)
                _ = try await WebhookSettlement(webhooks).settle(
                    claims.map { WebhookAttempt(.delivery($0), WebhookFixture.failure, at: start) } + [
                        WebhookAttempt(
                            .test(endpoint: endpoint.id, requestedAt: start, isRepeated: true), WebhookFixture.success,
                            at: start)
                    ], at: start, using: SeededGenerator(state: 1))
                #expect(try await WebhookEndpointStore(webhooks).find(endpoint.id)?.endpoint.state == .active)
                #expect(try await WebhookEndpointStore(webhooks).waiting()[endpoint.id]?.count == 1)
                // What Apple signed is read of its own leases alone, where an operator made such an endpoint.
                let renewed = AccessEndStoreTests.entry("DID_RENEW", from: 1, signed: 1, &fixtures)
                try await Self.acting(as: "storekeeper_state_updater", in: database) { worker async throws in
                    try await Self.expectDenied(worker, "insert into webhook_queue default values")
                    try await AccessEndStoreTests.apply([renewed], at: 1, worker)
                }
                #expect(try await queue.takeArrivals(at: start) == 1)
                let relays = try await queue.claim([relay.id: 5], probes: [], lease: UUID())
                let signed = try renewed.signedPayload
                #expect(relays.map(\.delivery?.content) == [.relay(renewed.notificationUUID, signedPayload: signed)])
                for table in ["notification_payload", "api_key", "customer", "account_claim", "operator_action"] {
                    try await Self.expectDenied(webhooks, "select from \(table)")
                }
                for change in [
                    "update webhook_endpoint set url = ''", "delete from webhook_endpoint",
                    "delete from webhook_delivery",
                    "delete from timeline", "update subscription set revision = 0", "create table mine (id integer)",
                ] { try await Self.expectDenied(webhooks, change) }
            }
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
                // Triggers of the tables that it may write have queued them.
                let queued = Statement("test-queued", "select count(*) as purchases from insight_change")
                #expect(try await worker.execute(queued)[0].value("purchases", as: Int64.self) > 0)
                try await Self.expectDenied(worker, "insert into insight_change default values")
                for (table, time) in [
                    ("notification", "recorded_at"), ("notification_payload", "recorded_at"),
                    ("conflicting_notification", "recorded_at"), ("timeline", "occurred_at"),
                ] {
                    try await Self.expectDenied(worker, "delete from \(table)", "update \(table) set \(time) = now()")
                }
                for table in ["transaction", "subscription"] {
                    try await Self.expectDenied(worker, "delete from \(table)")
                }
                try await Self.expectDenied(
                    worker, "insert into seen_notification (seen_at) values (now())",
                    "insert into canary (requested_at) values (now())", "delete from operator_action",
                    "delete from coverage_day", "delete from schema_migration", "create table mine (id integer)",
                    "drop table notification", "alter table notification disable trigger all", "truncate notification")
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
                try await scheduler.run(
                    unsafeScript:
                        "update refund_request set next_at = null; update refund_answer set attempts = 1; delete from usage_report"
                )
                for change in [
                    "update refund_request set requested_at = null", "insert into refund_request default values",
                    "update refund_answer set body = ''", "delete from refund_answer",
                    "insert into refund_policy default values", "insert into usage_report default values",
                ] { try await Self.expectDenied(scheduler, change) }
            }
        }
    }

    @Test func `An analyst sees figures, and no account and no payload`() async throws {
        try await Self.withGrants { database, owner async throws in
            let figures = [
                "schema_migration", "mrr_movement", "insight_purchase", "insight_day", "insight_month",
                "insight_converted", "insight_reported", "insight_correction",
                "insight_position", "coverage_day", "exchange_rate", "tax_share", "small_business",
            ]
            let tables = try await owner.execute(Self.tables).map { row in try row.value("name", as: String.self) }
            try await Self.acting(as: "storekeeper_analyst", in: database) { analyst async throws in
                for table in tables {
                    if figures.contains(table) {
                        try await analyst.run(unsafeScript: "select count(*) from \(table)")
                    } else {
                        try await Self.expectDenied(analyst, "select count(*) from \(table)")
                    }
                    try await Self.expectDenied(analyst, "delete from \(table)")
                }
            }
        }
    }

    @Test func `Tables for auditors are written once by every role`() async throws {
        try await Self.withGrants { database, _ async throws in
            try await Self.acting(as: "storekeeper_operator", in: database) { scheduler async throws in
                let actions = OperatorActionStore(scheduler)
                try await actions.record([
                    OperatorAction(
                        actedAt: Fixtures.now, actor: "ann", operation: "rejected.resolve", subject: "a", reason: nil)
                ])
                try await Self.expectDenied(
                    scheduler, "update operator_action set actor = 'bob'", "delete from operator_action",
                    "delete from coverage_day")
            }
        }
    }

    @Test func `An operator can delete and begin stored offsets, and cannot move one`() async throws {
        try await Self.withGrants { database, owner async throws in
            let first = LogPosition(topic: "t", partition: 0, offset: 0)
            _ = try await PositionStore(owner).establish(cluster: "c", group: "g", lowWatermarks: [first])
            try await Self.acting(as: "storekeeper_operator", in: database) { command async throws in
                try await Self.expectDenied(command, "update consumer_position set next_offset = 7")
                #expect(try await PositionStore(command).delete(cluster: "c", group: "g", topic: "t") == 1)
                let begin = StoredPosition(next: first, evidence: nil)
                #expect(
                    try await PositionStore(command).begin(cluster: "c", group: "g", at: [begin], replacing: true) == 1)
            }
        }
    }

    static let secrets = [
        "api_key", "api_cursor_secret", "api_idempotency", "console_login", "console_session", "console_secret",
    ]

    @Test(arguments: [
        "storekeeper_scheduler", "storekeeper_deduplicator", "storekeeper_state_updater", "storekeeper_recovery",
        "storekeeper_reader",
    ])
    func `No worker and no reader sees a secret, makes a key, a sign-in link or a session`(role: String) async throws {
        try await Self.withGrants { database, _ async throws in
            try await Self.acting(as: role, in: database) { worker async throws in
                for table in Self.secrets {
                    try await Self.expectDenied(
                        worker, "select * from \(table)", "insert into \(table) default values", "delete from \(table)")
                }
                try await Self.expectDenied(
                    worker, "update api_key set scopes = '{}'", "update console_session set role = 'admin'",
                    "select lo_create(0)", "select lo_from_bytea(0, 'x')", "select lo_creat(-1)")
            }
        }
    }

    @Test func `An operator makes and revokes keys, signs people in and out, and sees no digest`() async throws {
        try await Self.withGrants { database, owner async throws in
            try await Self.acting(as: "storekeeper_operator", in: database) { command async throws in
                let (keys, sessions) = (ClientKeyStore(command), ConsoleSessions(command))
                let key = ClientKey(
                    id: UUID(), name: "k", environment: .sandbox, scopes: [.eventsRead], bundleIds: ["a"],
                    digest: Array(repeating: 1, count: 32), createdAt: Fixtures.now)
                try await keys.add(key)
                #expect(try await keys.all().map(\.id) == [key.id])
                #expect(try await keys.revoke(key.id, at: Fixtures.now))
                let audit = OperatorAction(
                    actedAt: Fixtures.now, actor: "bob", operation: "console login", subject: "ann", reason: nil)
                let person = ConsoleSessions.Person(name: "ann", role: "admin")
                let link = Array(repeating: UInt8(2), count: 32)
                for digest in [link, Array(repeating: UInt8(3), count: 32)] {
                    try await sessions.addLink(
                        digest, for: person, from: Fixtures.now, until: Fixtures.now.addingTimeInterval(300),
                        audit: audit)
                }
                let session = Array(repeating: UInt8(4), count: 32)
                _ = try await ConsoleSessions(owner).begin(
                    link: link, session: session, at: Fixtures.now, until: Fixtures.now.addingTimeInterval(3600))
                #expect(try await sessions.signedIn(at: Fixtures.now).map(\.person) == [person])
                let ended = try await sessions.endAll(of: "ann", at: Fixtures.now, audit: audit)
                #expect(ended == (1, 1))
                #expect(try await ConsoleSessions(owner).person(of: session, at: Fixtures.now) == nil)
                for sql in [
                    "select digest from api_key", "update api_key set scopes = '{}'", "delete from api_key",
                    "select digest from console_session", "select digest from console_login",
                    "insert into console_session (name) values ('x')", "update console_session set role = 'admin'",
                    "select secret from console_secret", "select secret from api_cursor_secret",
                    "select from api_idempotency", "delete from operator_action", "delete from notification",
                    "update subscription set owner_account_token = null", "update access_period set product_id = 'x'",
                    "select lo_create(0)",
                ] { try await Self.expectDenied(command, sql) }
            }
        }
    }

    @Test func `Applying grants takes away what a role has beyond them, and a look finds it before`() async throws {
        try await Self.withGrants { _, owner async throws in
            #expect(try await Grants(owner).differences() == [])
            try await owner.run(
                unsafeScript: """
                    grant insert on api_key to storekeeper_scheduler;
                    grant update (role) on console_session to storekeeper_reader;
                    """)
            let differences = try await Grants(owner).differences()
            #expect(
                differences == [
                    "privileges of column console_session.role differ", "privileges of table api_key differ",
                ])
            #expect(try await Grants(owner).apply() == [])
            #expect(try await Grants(owner).differences() == [])
        }
    }

    @Test func `A partition that a service made since has no privileges and needs none, and those it got are found`()
        async throws
    {
        try await Self.withGrants { _, owner async throws in
            try await owner.run(
                unsafeScript: "select make_webhook_days(date '2020-01-01', date '2020-01-01', '2020-01-01')")
            #expect(try await Grants(owner).differences() == [])
            try await owner.run(unsafeScript: "grant insert on webhook_delivery_2020_01_01 to storekeeper_reader")
            #expect(
                try await Grants(owner).differences() == [
                    "privileges of partition webhook_delivery_2020_01_01 differ"
                ])
        }
    }

    @Test func `A reader reads everything but secrets and changes nothing`() async throws {
        try await Self.withGrants { database, owner async throws in
            let tables = try await owner.execute(Self.tables).map { row in try row.value("name", as: String.self) }
            #expect(tables.count > 15)
            try await Self.acting(as: "storekeeper_reader", in: database) { reader async throws in
                _ = try await reader.run(unsafeScript: "select * from account_access")
                for table in tables {
                    try await Self.expectDenied(reader, "delete from \(table)")
                    guard !Self.secrets.contains(table) else { continue }
                    _ = try await reader.run(unsafeScript: "select count(*) from \(table)")
                }
            }
        }
    }

    @Test func `The API reads only the tables of its answers and writes only its own tables`() async throws {
        try await Self.withGrants { database, owner async throws in
            let tables = try await owner.execute(Self.tables).map { row in try row.value("name", as: String.self) }
            let own = ["api_key_use", "api_idempotency", "customer", "purchase_account"]
            let added = [
                "account_claim", "recovery_request", "operator_action", "entitlement_definition", "account_app",
                "customer_consent", "purchase_transfer", "apple_request_limit", "account_version", "webhook_delivery",
                "webhook_queue", "refund_answer", "refund_policy", "usage_report", "credit",
                "offer_signature", "manual_grant",
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
                try await Self.expectDenied(api, "update manual_grant set ends_at = null")
                try await Self.expectDenied(api, "update customer set app_account_token = gen_random_uuid()")
                try await Self.expectDenied(api, "create table mine (id integer)")
                try await api.run(unsafeScript: "select set_product_durations('app', '{pass}', '{P1M}')")
                try await Self.expectDenied(api, "update product set duration = 'P1Y'")
                // The dry run of an erasure looks for the account in what the API does not read.
                let preview = try await ErasureStore(api).preview(UUID(), of: "com.example.app", in: .production)
                #expect(preview == nil)
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
            let own = [
                "console_login", "console_session", "console_selection", "chosen_account", "purchase_account",
                "webhook_queue",
            ]
            let added = [
                "operator_action", "recovery_window", "recovery_request", "manual_grant", "apple_request_limit",
                "account_version", "refund_answer", "webhook_delivery",
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
                try await Self.expectDenied(
                    console, "update operator_action set actor = 'bob'", "create table mine (id integer)")
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

    static func withGrants(
        _ body: (PostgresConfiguration, PostgresConnection) async throws -> Void
    ) async throws {
        try await TestDatabase.use { database in
            let owner = TestDatabase.connection(database)
            #expect(try await Grants(owner).apply() == [])
            try await body(database, owner)
            await owner.close()
        }
    }

    static func acting(
        as role: String, in database: PostgresConfiguration, _ body: (PostgresConnection) async throws -> Void
    ) async throws {
        var configuration = database
        configuration.url += "?options=-crole%3D\(role)"
        let connection = TestDatabase.connection(configuration)
        try await body(connection)
        await connection.close()
    }

    static func expectDenied(
        _ connection: PostgresConnection, _ statements: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        for sql in statements {
            let error = await #expect(throws: PostgresError.self, "\(sql)", sourceLocation: sourceLocation) {
                try await connection.run(unsafeScript: sql)
            }
            #expect(error?.sqlState == "42501", "\(sql) was not denied", sourceLocation: sourceLocation)
        }
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
            and not has_table_privilege('storekeeper_webhooks', oid, 'insert')
            and not has_table_privilege('storekeeper_operator', oid, 'insert')
            and not has_table_privilege('storekeeper_api', oid, 'insert')
            and not has_table_privilege('storekeeper_console', oid, 'insert')
        """)
}
