import AppStore
import Contracts
import Foundation
import Interpretation
import Postgres
import Storage
import Subscriptions
import TestSupport
import Testing

@testable import Storekeeper

/// rebuild proves that the state follows from the ledger, and names rows that do not.
@Suite struct RebuildTests {
    @Test(arguments: 700...703 as ClosedRange<UInt64>)
    func `rebuild finds every row the same after disorder and repetitions, and leaves nothing behind`(seed: UInt64)
        async throws
    {
        try await RebuildFixture.use(seed: seed) { connection, database async throws in
            let outcome = await database.run(["rebuild"])
            #expect(outcome.code == 0, "\(outcome.text) \(outcome.errorOutput)")
            #expect(outcome.text.contains("180 notifications applied"), "\(outcome.text)")
            #expect(outcome.text.contains("no differences"))
            #expect(try await RebuildFixture.schemas(connection) == 0)
        }
    }

    @Test func `rebuild decides access by the durations that are configured`() async throws {
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            try await ProductStore(connection).setDurations(
                ["gold.1": .days(30), "gold.2": ProductDuration("P1M")], ofApp: RebuildFixture.bundleId)
            try await RebuildFixture.apply(
                RebuildFixture.entries(RebuildFixture.notifications(80, seed: 716, kind: .nonRenewingSubscription)),
                connection)
            let reasons = try await connection.execute(
                unsafeSQL: "select reason from access_period group by reason order by reason")
            #expect(try reasons.map { row in try row.value("reason") as String } == ["durationUnknown", "nonRenewing"])
            let outcome = await database.run(["rebuild"])
            #expect(outcome.code == 0, "\(outcome.text) \(outcome.errorOutput)")
            #expect(outcome.text.contains("no differences"), "\(outcome.text)")
            await connection.close()
        }
    }

    @Test func `rebuild leaves out accounts that were detached or erased`() async throws {
        try await RebuildFixture.use(seed: 717) { connection, database async throws in
            func forget(_ number: Int, _ extent: ErasureStore.Extent) async throws {
                let token = try #require(UUID(uuidString: "7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7\(number)"))
                let certificate = try await ErasureStore(connection).forget(
                    token, of: RebuildFixture.bundleId, in: .production, extent: extent, id: UUID(),
                    at: RebuildFixture.epoch)
                #expect(try #require(certificate).purchases > 3)
            }
            try await forget(0, .detach)
            let detached = await database.run(["rebuild"])
            #expect(detached.code == 0, "\(detached.text) \(detached.errorOutput)")
            #expect(detached.text.contains("no differences"), "\(detached.text)")
            // Without their payloads these purchases are not compared, and none is found to differ.
            try await forget(1, .erase)
            let erased = await database.run(["rebuild", "--json"])
            #expect(!erased.text.contains("7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a71"), "\(erased.text)")
        }
    }

    /// Changes by hand, of different rows, and what has to be said of each.
    static let tamperings: [(sql: String, table: String, says: String)] = [
        (
            "update subscription set product_id = 'stolen' where original_transaction_id = '23' and environment = 'Production'",
            "subscription",
            "stolen"
        ),
        (
            "update transaction set expires_at = '2099-01-01' where transaction_id = '24-1' and environment = 'Production'",
            "transaction", "expires_at"
        ),
        (
            "delete from transaction where transaction_id = '24-2' and environment = 'Production'", "transaction",
            "the row is missing"
        ),
        (
            "update access_period set product_id = 'x' where environment = 'Production' and original_transaction_id = '25'",
            "access_period", "x"
        ),
        (
            """
            insert into anomaly (event_at, notification_uuid, environment, original_transaction_id, name)
            values (now(), gen_random_uuid(), 'Production', '26', 'negativePrice')
            """, "anomaly", "the row does not follow from the ledger"
        ),
        (
            """
            insert into lifecycle_gap
            values (now(), null, now(), null, gen_random_uuid(), 'Production', '27', 'period')
            """, "lifecycle_gap", "the row does not follow from the ledger"
        ),
        (
            """
            insert into refund_request (
                outcome_at, outcome_uuid, environment, transaction_id, original_transaction_id, bundle_id, outcome)
            values (now(), gen_random_uuid(), 'Production', '27-9', '27', 'com.example.app', 'refunded')
            """, "refund_request", "the row does not follow from the ledger"
        ),
        (
            "update account_claim set since = '2000-01-01' where original_transaction_id = '28' and environment = 'Production'",
            "account_claim",
            "since"
        ),
        (
            """
            update purchase_account set may_use = not may_use
            where ctid = (select min(ctid) from purchase_account where original_transaction_id = '28' and environment = 'Production')
            """, "purchase_account", "may_use"
        ),
        (
            "delete from subscription where original_transaction_id = '29' and environment = 'Production'",
            "subscription", "the row is missing"
        ),
    ]

    @Test func `rebuild finds and names what was changed by hand, and nothing else`() async throws {
        try await RebuildFixture.use(seed: 710) { connection, database async throws in
            for tampering in Self.tamperings { try await connection.run(unsafeScript: tampering.sql) }
            let outcome = await database.run(["rebuild"])
            #expect(outcome.code == 1)
            let lines = outcome.text.split(separator: "\n").dropLast()
            var unexplained = Set(lines)
            for (sql, table, says) in Self.tamperings {
                let named = lines.filter { $0.hasPrefix("\(table) Production ") && $0.contains(says) }
                #expect(!named.isEmpty, "\(sql): \(lines)")
                unexplained.subtract(named)
            }
            #expect(unexplained.isEmpty, "\(unexplained)")
            #expect(try await RebuildFixture.schemas(connection) == 0)
        }
    }

    @Test func `rebuild --json prints the differing row as an object`() async throws {
        try await RebuildFixture.use(seed: 711) { connection, database async throws in
            try await connection.run(
                unsafeScript:
                    "update subscription set status = 2 where environment = 'Production' and original_transaction_id = '23'"
            )
            let outcome = await database.run(["rebuild", "--json"])
            #expect(outcome.code == 1)
            struct Summary: Decodable {
                struct Row: Decodable {
                    var table: String
                    var originalTransactionId: String
                    var columns: [String: [String?]]
                }
                var differingRows: Int
                var differences: [Row]
            }
            let summary: Summary = try outcome.json()
            #expect(summary.differingRows == 1)
            #expect(summary.differences.map(\.originalTransactionId) == ["23"])
            #expect(summary.differences.first?.columns == ["status": ["2", "1"]])
        }
    }

    /// The months of the ledger that ended before a time are dropped, as the scheduler does it.
    static func drop(before date: Date, _ connection: PostgresConnection) async throws {
        let report = try await RetentionStore(connection).run(
            RetentionPolicy(ledgerDays: 200, seenDays: 8), now: date.addingTimeInterval(201 * 86_400))
        #expect(report.left.isEmpty)
    }

    /// Older than any retention, whenever this runs.
    static let longAgo = Date(timeIntervalSince1970: 1_732_190_400)

    /// Purchases whose notifications retention has deleted, and one that is whole.
    static func storeTruncated(
        _ connection: PostgresConnection
    ) async throws -> (early: [LedgerEntry], late: [LedgerEntry]) {
        let early = try RebuildFixture.entries(
            RebuildFixture.notifications(60, seed: 712).filter { $0.originalTransactionId != "23" })
        let late = try RebuildFixture.entries(RebuildFixture.notifications(60, seed: 713))
        _ = try await RetentionStore(connection).prepare(now: longAgo)
        _ = try await LedgerStore(connection).apply(early, moving: [], recordedAt: longAgo)
        try await RebuildFixture.apply(late, connection)
        try await drop(before: longAgo.addingTimeInterval(31 * 86_400), connection)
        return (early, late)
    }

    @Test func `rebuild counts purchases whose notifications retention has deleted, without comparing them`()
        async throws
    {
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            let (early, late) = try await Self.storeTruncated(connection)
            let purchases = Set((early + late).compactMap(\.event?.key))
            let truncated = Set(early.compactMap(\.event?.key)).count
            #expect(truncated > 5 && purchases.count == truncated + 1)
            let outcome = await database.run(["rebuild"])
            #expect(outcome.code == 0, "\(outcome.text)")
            #expect(outcome.text.contains("1 of \(purchases.count) purchases compared: no differences"))
            #expect(outcome.text.contains("\(truncated) purchases not compared: retention"), "\(outcome.text)")
            #expect(!outcome.text.contains("changed during every comparison"))
            // What is left to be judged is judged.
            try await connection.run(
                unsafeScript: "update subscription set status = 4 where original_transaction_id = '23'")
            let tampered = await database.run(["rebuild"])
            #expect(tampered.code == 1 && tampered.text.contains("status is 4"), "\(tampered.text)")
        }
    }

    @Test func `rebuild that could compare nothing claims no proof`() async throws {
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            let entries = try RebuildFixture.entries(RebuildFixture.notifications(60, seed: 714))
            _ = try await RetentionStore(connection).prepare(now: Self.longAgo)
            _ = try await LedgerStore(connection).apply(entries, moving: [], recordedAt: Self.longAgo)
            try await Self.drop(before: Self.longAgo.addingTimeInterval(31 * 86_400), connection)
            let outcome = await database.run(["rebuild"])
            #expect(outcome.code == 1)
            #expect(outcome.text.contains("nothing was compared"), "\(outcome.text)")
            #expect(!outcome.text.contains("no differences"))
        }
    }

    @Test func `rebuild reports no difference for what is recorded while it runs`() async throws {
        try await RebuildFixture.use(seed: 713) { connection, database async throws in
            let late = try RebuildFixture.entries(RebuildFixture.notifications(120, seed: 800))
            async let arriving: Void = RebuildFixture.apply(late, TestDatabase.connection(database), from: -50)
            let outcome = await database.run(["rebuild"])
            try await arriving
            #expect(outcome.code == 0, "\(outcome.text) \(outcome.errorOutput)")
            let again = await database.run(["rebuild"])
            #expect(again.text.contains("300 notifications applied"), "\(again.text)")
            #expect(again.code == 0)
        }
    }

    @Test func `Schema that is there already is not touched, and one that is kept can be looked at`() async throws {
        try await RebuildFixture.use(seed: 715) { connection, database async throws in
            try await connection.run(unsafeScript: "create schema public_rebuild")
            let rejected = await database.run(["rebuild"])
            #expect(rejected.code == 1)
            #expect(rejected.errorOutput.contains("public_rebuild"))
            let kept = await database.run(["rebuild", "--keep", "--into", "rebuilt"])
            #expect(kept.code == 0, "\(kept.errorOutput)")
            let statement = Statement(unsafeSQL: "select count(*) as purchases from rebuilt.subscription")
            #expect(try await connection.execute(statement)[0].value("purchases", as: Int64.self) > 0)
            #expect(try await RebuildFixture.schemas(connection) == 2)
            let same = await database.run(["rebuild", "--into", "public"])
            #expect(same.code == 64)
        }
    }
}
