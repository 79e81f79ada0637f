import Contracts
import Foundation
import Postgres
import Storage
import Subscriptions
import TestSupport
import Testing

@testable import Storekeeper

/// rebuild --repair replaces rows that do not follow from the ledger, if they were compared and have not changed since.
@Suite(.serialized) struct RepairTests {
    private static func scalar(_ sql: String, _ connection: PostgresConnection) async throws -> String? {
        try await connection.execute(Statement(unsafeSQL: sql))[0].optional("value")
    }

    private static func status(of purchase: String, _ connection: PostgresConnection) async throws -> String? {
        try await scalar(
            "select status::text as value from subscription where environment = 'Production' "
                + "and original_transaction_id = '\(purchase)'", connection)
    }

    private static func falsify(_ purchases: [String], _ connection: PostgresConnection) async throws {
        let names = purchases.map { "'\($0)'" }.joined(separator: ", ")
        try await connection.run(
            unsafeScript: """
                update subscription set status = 4
                where environment = 'Production' and original_transaction_id in (\(names))
                """)
    }

    private static func auditLog(_ connection: PostgresConnection) async throws -> [OperatorAction] {
        try await OperatorActionStore(connection).newest(50)
    }

    @Test func `rebuild --repair repairs every kind of difference and records it, and a second rebuild finds none`()
        async throws
    {
        try await RebuildFixture.use(seed: 710) { connection, database async throws in
            for tampering in RebuildTests.tamperings { try await connection.run(unsafeScript: tampering.sql) }
            let revision = """
                select revision::text as value from subscription
                where environment = 'Production' and original_transaction_id = '23'
                """
            let before = try await Self.scalar(revision, connection).flatMap(Int.init)
            // The figures of what a repair changes are computed again, and those of what a rebuild replays are not.
            let queued = """
                select count(*) || ' ' || count(distinct (environment, original_transaction_id)) as value from insight_change
                """
            try await connection.run(unsafeScript: "truncate insight_change")
            let dry = await database.run(["rebuild", "--repair", "--dry-run"])
            #expect(dry.code == 1)
            #expect(dry.text.contains("would be repaired"), "\(dry.text)")
            #expect(try await Self.auditLog(connection).isEmpty)
            let found = await database.run(["rebuild"])
            #expect(found.text.contains("15 rows differ"), "\(found.text)")
            #expect(try await Self.scalar(queued, connection) == "0 0")

            let repaired = await database.run(["rebuild", "--repair", "--yes", "--note", "a bug was fixed"])
            #expect(repaired.code == 0, "\(repaired.text) \(repaired.errorOutput)")
            #expect(repaired.text.contains("15 rows of 7 purchases repaired"), "\(repaired.text)")
            #expect(try await Self.scalar(queued, connection) == "7 7")
            let again = await database.run(["rebuild"])
            #expect(again.code == 0 && again.text.contains("no differences"), "\(again.text)")
            #expect(try await Self.scalar(revision, connection).flatMap(Int.init) == before.map { $0 + 1 })
            let auditLog = try await Self.auditLog(connection)
            #expect(
                auditLog.count == 7 && auditLog.allSatisfy { $0.operation == "rebuild --repair" && $0.actor == "olga" })
            #expect(auditLog.allSatisfy { $0.reason == "a bug was fixed" })
            #expect(
                auditLog.map(\.subject).contains("purchase Production 24: transaction 24-1, transaction 24-2"),
                "\(auditLog.map(\.subject))")
            #expect(try await RebuildFixture.schemas(connection) == 0)
        }
    }

    /// The answers are in no notification.
    @Test func `rebuild --repair restores of which refund requests an answer was withheld`() async throws {
        try await RebuildFixture.use(seed: 710) { connection, database async throws in
            let withheld = """
                select string_agg(transaction_id, ' ' order by transaction_id) as value
                from refund_request
                where was_withheld
                """
            try await connection.run(
                unsafeScript: """
                    insert into refund_answer (
                        requested_at, decided_at, environment, transaction_id, bundle_id, withheld_because, decided_by)
                    select requested_at, requested_at, environment, transaction_id, bundle_id, 'rule', 'policy'
                    from refund_request
                    where environment = 'Production' and requested_at is not null
                    order by transaction_id
                    limit 2
                    """)
            let before = try #require(try await Self.scalar(withheld, connection))
            #expect(before.contains(" "), "the two requests")
            // One row is lost, and of the other what it says.
            try await connection.run(
                unsafeScript: """
                    delete from refund_request
                    where environment = 'Production'
                        and transaction_id = (select min(transaction_id) from refund_request where was_withheld);
                    update refund_request set was_withheld = null where was_withheld
                    """)
            let found = await database.run(["rebuild"])
            #expect(found.code == 1 && found.text.contains("was_withheld"), "\(found.text)")
            #expect(found.text.contains("2 rows differ"), "\(found.text)")
            let repaired = await database.run(["rebuild", "--repair", "--yes"])
            #expect(repaired.code == 0, "\(repaired.text) \(repaired.errorOutput)")
            #expect(try await Self.scalar(withheld, connection) == before)
            let again = await database.run(["rebuild"])
            #expect(again.code == 0, "\(again.text)")
        }
    }

    @Test func `rebuild --repair asks at the terminal, and needs --yes elsewhere`() async throws {
        try await RebuildFixture.use(seed: 710) { connection, database async throws in
            try await Self.falsify(["23"], connection)
            let unasked = await database.run(["rebuild", "--repair"])
            #expect(unasked.code == 64 && unasked.errorOutput.contains("--yes"))
            #expect(try await RebuildFixture.schemas(connection) == 0)
            let rejected = await CommandOutcome.of(
                ["rebuild", "--repair"], environment: database.environment,
                confirm: { question in
                    #expect(question.contains("1 rows of 1 purchases"), "\(question)")
                    return false
                })
            #expect(rejected.code == 1)
            #expect(try await Self.status(of: "23", connection) == "4")
            let agreed = await CommandOutcome.of(
                ["rebuild", "--repair"], environment: database.environment, confirm: { _ in true })
            #expect(agreed.code == 0, "\(agreed.text) \(agreed.errorOutput)")
            #expect(try await Self.status(of: "23", connection) == "1")
            let nothing = await CommandOutcome.of(
                ["rebuild", "--repair"], environment: database.environment,
                confirm: { question in
                    Issue.record("asked without need: \(question)")
                    return false
                })
            #expect(nothing.code == 0)
        }
    }

    @Test func `rebuild --repair leaves and names purchases that changed after they were compared`() async throws {
        try await RebuildFixture.use(seed: 710) { connection, database async throws in
            try await Self.falsify(["23", "24", "25"], connection)
            let outcome = await CommandOutcome.of(
                ["rebuild", "--repair"], environment: database.environment,
                confirm: { _ in
                    do {
                        // By hand, and by the pipeline.
                        try await Self.falsify(["23"], connection)
                        try await connection.run(
                            unsafeScript: """
                                update subscription set product_id = 'another'
                                where environment = 'Production' and original_transaction_id = '23'
                                """)
                        let late = RebuildFixture.notifications(200, seed: 900).filter {
                            $0.originalTransactionId == "24"
                        }
                        try await RebuildFixture.apply(try RebuildFixture.entries(late), connection, from: 1000)
                    } catch { Issue.record(error) }
                    return true
                })
            #expect(outcome.code == 1)
            for purchase in ["23", "24"] {
                #expect(
                    outcome.text.contains("purchase Production \(purchase) was skipped: it changed"), "\(outcome.text)")
            }
            #expect(outcome.text.contains("1 rows of 1 purchases repaired"), "\(outcome.text)")
            #expect(try await Self.status(of: "23", connection) == "4")
            #expect(try await Self.status(of: "25", connection) == "1")
            #expect(try await Self.auditLog(connection).map(\.subject) == ["purchase Production 25: subscription"])
        }
    }

    @Test func `rebuild --repair never touches purchases that could not be compared`() async throws {
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            _ = try await RebuildTests.storeTruncated(connection)
            try await Self.falsify(["23", "25"], connection)
            let outcome = await database.run(["rebuild", "--repair", "--yes"])
            #expect(outcome.code == 0, "\(outcome.text) \(outcome.errorOutput)")
            #expect(try await Self.status(of: "23", connection) == "1")
            #expect(try await Self.status(of: "25", connection) == "4")
        }
    }

    @Test func `Purchase of which this build cannot read a notification is named and left`() async throws {
        try await RebuildFixture.use(seed: 710) { connection, database async throws in
            try await Self.falsify(["23", "25"], connection)
            try await connection.run(
                unsafeScript: """
                    update notification_payload set decoded = '[]'
                    where notification_uuid = (
                        select notification_uuid from notification
                        where environment = 'Production' and original_transaction_id = '23' limit 1)
                    """)
            let outcome = await database.run(["rebuild", "--repair", "--yes"])
            #expect(outcome.code == 1)
            #expect(
                outcome.text.contains("purchase Production 23 was skipped: this release cannot read"), "\(outcome.text)"
            )
            #expect(try await Self.status(of: "23", connection) == "4")
            #expect(try await Self.status(of: "25", connection) == "1")
        }
    }

    @Test func `Withdrawals of a consent are compared with their payloads, and repaired while there is one`()
        async throws
    {
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            var told = RebuildFixture.notifications(3, seed: 719)
            for place in told.indices {
                told[place].notificationType = "RESCIND_CONSENT"
                (told[place].subtype, told[place].originalTransactionId, told[place].transactionId) = (nil, nil, nil)
                told[place].decoded = Array(
                    #"{"appData":{"signedAppTransactionInfo":{"appTransactionId":"7\#(place)"}}}"#.utf8)
            }
            try await RebuildFixture.apply(try RebuildFixture.entries(told), connection)
            let clean = await database.run(["rebuild"])
            #expect(clean.code == 0, "\(clean.text) \(clean.errorOutput)")
            let uuids = told.map { $0.notificationUUID.uuidString.lowercased() }
            try await connection.run(
                unsafeScript: """
                    update notification set app_transaction_id = null where app_transaction_id in ('70', '72');
                    delete from notification_payload where notification_uuid in ('\(uuids[1])', '\(uuids[2])')
                    """)
            let found = await database.run(["rebuild"])
            #expect(found.code == 1)
            #expect(
                found.text.contains(
                    "notification Production \(uuids[0]): app_transaction_id is null, by its payload 70"),
                "\(found.text)")
            #expect(
                found.text.contains("1 withdrawals of a consent (RESCIND_CONSENT) count for no customer"),
                "\(found.text)")
            let repaired = await database.run(["rebuild", "--repair", "--yes"])
            #expect(repaired.code == 0, "\(repaired.text) \(repaired.errorOutput)")
            #expect(repaired.text.contains("and 1 withdrawals of a consent, repaired"), "\(repaired.text)")
            #expect(
                try await Self.scalar(
                    "select string_agg(app_transaction_id, ' ' order by app_transaction_id) as value from notification",
                    connection) == "70 71")
            #expect(
                try await Self.auditLog(connection).map(\.subject) == [
                    "withdrawal Production \(uuids[0]): notification"
                ])
            let again = await database.run(["rebuild"])
            #expect(again.code == 0, "\(again.text) \(again.errorOutput)")
            await connection.close()
        }
    }

    @Test func `User without the rights is told which are missing before anything is done`() async throws {
        try await RebuildFixture.use(seed: 710) { connection, database async throws in
            let user = "rebuild_\(UUID().uuidString.prefix(8).lowercased())"
            let name = try #require(try await Self.scalar("select current_database()::text as value", connection))
            try await connection.run(
                unsafeScript: """
                    create role \(user);
                    grant usage on schema public to \(user);
                    grant select on all tables in schema public to \(user);
                    grant execute on all functions in schema public to \(user);
                    """)
            let place = database.url + (database.url.contains("?") ? "&" : "?") + "options=-crole%3D\(user)"
            let rejected = await CommandOutcome.of(["rebuild"], environment: ["DATABASE_URL": place])
            #expect(rejected.code == 1)
            #expect(
                rejected.errorOutput.contains("grant create on database \(name) to \(user)"), "\(rejected.errorOutput)")
            #expect(rejected.errorOutput.contains("storekeeper_migrator"))
            try await connection.run(unsafeScript: "grant create on database \(name) to \(user)")
            let allowed = await CommandOutcome.of(["rebuild"], environment: ["DATABASE_URL": place])
            #expect(allowed.code == 0, "\(allowed.text) \(allowed.errorOutput)")
            let repair = await CommandOutcome.of(
                ["rebuild", "--repair", "--yes"], environment: ["DATABASE_URL": place])
            #expect(
                repair.code == 1 && repair.errorOutput.contains("no right to change subscription"),
                "\(repair.errorOutput)")
            #expect(try await RebuildFixture.schemas(connection) == 0)
            try await connection.run(
                unsafeScript: "revoke create on database \(name) from \(user); drop owned by \(user); drop role \(user)"
            )
        }
    }
}
