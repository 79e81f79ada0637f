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
@Suite(.serialized) struct RebuildTests {
    static let bundleId = "com.example.app"
    static let epoch = Date(timeIntervalSince1970: 1_750_000_000)

    static let happenings: [(NotificationType, NotificationSubtype?)] = [
        (.subscribed, .initialBuy), (.didRenew, nil), (.didChangeRenewalStatus, .autoRenewDisabled),
        (.didChangeRenewalStatus, .autoRenewEnabled), (.didFailToRenew, .gracePeriod), (.expired, .voluntary),
        (.refund, nil), (.refundReversed, nil), (.consumptionRequest, nil), (.priceIncrease, .pending),
    ]

    /// What the deduplicator would hand on: decoded payloads of few purchases, some of the same moment, and TESTs.
    static func notifications(
        _ count: Int, seed: UInt64, environment: AppStoreEnvironment = .production,
        kind: TransactionType = .autoRenewableSubscription
    ) -> [VerifiedNotification] {
        var generator = SeededGenerator(state: seed)
        return (0..<count).map { index in
            let purchase = "2\(Int.random(in: 0..<12, using: &generator))"
            let (type, subtype) = happenings[Int.random(in: 0..<10, using: &generator)]
            let signedDate = epoch.addingTimeInterval(Double(Int.random(in: 0..<30, using: &generator)) * 86_400)
            let period = Int.random(in: 0..<4, using: &generator)
            let isTest = index % 20 == 19
            var transaction = JWSTransactionDecodedPayload()
            transaction.originalTransactionId = purchase
            transaction.transactionId = "\(purchase)-\(period)"
            transaction.bundleId = bundleId
            transaction.productId = "gold.\(period)"
            transaction.type = kind
            transaction.subscriptionGroupIdentifier = "metals"
            transaction.purchaseDate = epoch.addingTimeInterval(Double(period) * 86_400 * 7)
            if kind == .autoRenewableSubscription {
                transaction.expiresDate = epoch.addingTimeInterval(Double(period + 1) * 86_400 * 7)
            }
            transaction.revocationDate = type == .refund ? signedDate : nil
            transaction.signedDate = signedDate
            transaction.appAccountToken =
                "7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7\(Int.random(in: 0..<3, using: &generator))"
            transaction.appTransactionId = index % 3 == 0 ? nil : "70\(purchase)"
            var renewal = JWSRenewalInfoDecodedPayload()
            renewal.originalTransactionId = purchase
            renewal.autoRenewProductId = "gold.\(index)"
            renewal.signedDate = signedDate
            var payload = ResponseBodyV2DecodedPayload()
            payload.notificationType = isTest ? .test : type
            payload.subtype = isTest ? nil : subtype
            let uuid = UUID(
                uuidString: String(
                    format: "%08x-0000-4000-8000-%012x", UInt32.random(in: 1 ... .max, using: &generator), index))
            payload.notificationUUID = uuid?.uuidString.lowercased()
            payload.signedDate = signedDate
            var data = NotificationData()
            data.bundleId = bundleId
            data.environment = environment
            data.status = .active
            if !isTest {
                data.signedTransactionInfo = "TRANSACTION"
                data.signedRenewalInfo = "RENEWAL"
            }
            payload.data = data
            let decoded = String(decoding: payload.json, as: UTF8.self)
                .replacingOccurrences(of: "\"TRANSACTION\"", with: String(decoding: transaction.json, as: UTF8.self))
                .replacingOccurrences(of: "\"RENEWAL\"", with: String(decoding: renewal.json, as: UTF8.self))
            return VerifiedNotification(
                notificationUUID: uuid ?? UUID(), notificationType: payload.notificationType?.rawValue ?? "",
                subtype: payload.subtype?.rawValue,
                environment: StoreEnvironment(rawValue: environment.rawValue) ?? .production, bundleId: bundleId,
                appAppleId: 1, originalTransactionId: isTest ? nil : purchase,
                transactionId: isTest ? nil : transaction.transactionId, signedDate: signedDate,
                receivedAt: epoch, source: .webhook, traceparent: nil, decoded: Array(decoded.utf8),
                signedPayload: Array("head.\(index).tail".utf8))
        }
    }

    static func entries(_ notifications: [VerifiedNotification]) throws -> [LedgerEntry] {
        try notifications.enumerated().map { offset, notification in
            try LedgerEntry(
                notification,
                position: LogPosition(topic: Topics.unique.name, partition: Int32(offset % 3), offset: Int64(offset)))
        }
    }

    static func apply(_ entries: [LedgerEntry], _ connection: PostgresConnection, from moment: Int = 0) async throws {
        for (number, start) in stride(from: 0, to: entries.count, by: 7).enumerated() {
            _ = try await LedgerStore(connection).apply(
                Array(entries[start..<min(start + 7, entries.count)]), moving: [],
                recordedAt: epoch.addingTimeInterval(Double(moment + number)))
        }
    }

    /// A database with lives that came in disorder and with repetitions.
    static func use(
        seed: UInt64, _ body: @Sendable (PostgresConnection, PostgresConfiguration) async throws -> Void
    ) async throws {
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            var generator = SeededGenerator(state: seed)
            let told = notifications(160, seed: seed) + notifications(20, seed: seed + 1, environment: .sandbox)
            let repeated = told + told.filter { _ in Bool.random(using: &generator) }
            try await apply(entries(repeated.shuffled(using: &generator)), connection)
            try await body(connection, database)
            await connection.close()
        }
    }

    static func schemas(_ connection: PostgresConnection) async throws -> Int64 {
        let statement = Statement(
            unsafeSQL: "select count(*) as schemas from pg_namespace where nspname like '%rebuil%'")
        return try await connection.execute(statement)[0].value("schemas")
    }

    @Test(arguments: 700...703 as ClosedRange<UInt64>)
    func `after disorder and repetitions every row is the same, and nothing is left behind`(seed: UInt64) async throws {
        try await Self.use(seed: seed) { connection, database async throws in
            let outcome = await CommandOutcome.of(["rebuild"], environment: database.environment)
            #expect(outcome.code == 0, "\(outcome.text) \(outcome.errorOutput)")
            #expect(outcome.text.contains("180 notifications applied"), "\(outcome.text)")
            #expect(outcome.text.contains("no differences"))
            #expect(try await Self.schemas(connection) == 0)
        }
    }

    @Test func `rebuild decides access by the durations that are configured`() async throws {
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            try await ProductStore(connection).setDurations(
                ["gold.1": .days(30), "gold.2": ProductDuration("P1M")], ofApp: Self.bundleId)
            try await Self.apply(
                Self.entries(Self.notifications(80, seed: 716, kind: .nonRenewingSubscription)), connection)
            let reasons = try await connection.execute(
                Statement(unsafeSQL: "select reason from access_period group by reason order by reason"))
            #expect(try reasons.map { row in try row.value("reason") as String } == ["durationUnknown", "nonRenewing"])
            let outcome = await CommandOutcome.of(["rebuild"], environment: database.environment)
            #expect(outcome.code == 0, "\(outcome.text) \(outcome.errorOutput)")
            #expect(outcome.text.contains("no differences"), "\(outcome.text)")
            await connection.close()
        }
    }

    @Test func `rebuild leaves out accounts that were detached or erased`() async throws {
        try await Self.use(seed: 717) { connection, database async throws in
            func forget(_ number: Int, _ extent: ErasureStore.Extent) async throws {
                let token = try #require(UUID(uuidString: "7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7\(number)"))
                let certificate = try await ErasureStore(connection).forget(
                    token, of: Self.bundleId, in: .production, extent: extent, id: UUID(), at: Self.epoch)
                #expect(certificate.purchases > 3)
            }
            try await forget(0, .detach)
            let detached = await CommandOutcome.of(["rebuild"], environment: database.environment)
            #expect(detached.code == 0, "\(detached.text) \(detached.errorOutput)")
            #expect(detached.text.contains("no differences"), "\(detached.text)")
            // Without their payloads these purchases are not compared, and none is found to differ.
            try await forget(1, .erase)
            let erased = await CommandOutcome.of(["rebuild", "--json"], environment: database.environment)
            #expect(!erased.text.contains("7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a71"), "\(erased.text)")
        }
    }

    /// Changes by hand, and what has to be said of each.
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
            "update account_claim set since = '2000-01-01' where original_transaction_id = '28' and environment = 'Production'",
            "account_claim",
            "since"
        ),
        (
            "delete from subscription where original_transaction_id = '29' and environment = 'Production'",
            "subscription", "the row is missing"
        ),
    ]

    @Test(arguments: tamperings)
    func `what was changed by hand is found and named, and nothing else`(
        sql: String, table: String, says: String
    ) async throws {
        try await Self.use(seed: 710) { connection, database async throws in
            try await connection.run(unsafeScript: sql)
            let outcome = await CommandOutcome.of(["rebuild"], environment: database.environment)
            #expect(outcome.code == 1)
            let lines = outcome.text.split(separator: "\n").dropLast()
            #expect(!lines.isEmpty)
            #expect(lines.allSatisfy { $0.hasPrefix("\(table) Production ") && $0.contains(says) }, "\(lines)")
            #expect(try await Self.schemas(connection) == 0)
        }
    }

    @Test func `for programs the differing row is an object`() async throws {
        try await Self.use(seed: 711) { connection, database async throws in
            try await connection.run(
                unsafeScript:
                    "update subscription set status = 2 where environment = 'Production' and original_transaction_id = '23'"
            )
            let outcome = await CommandOutcome.of(["rebuild", "--json"], environment: database.environment)
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

    @Test func `purchases are counted, not judged, once retention has taken what was said of them`() async throws {
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            let early = try Self.entries(Self.notifications(60, seed: 712).filter { $0.originalTransactionId != "23" })
            let late = try Self.entries(Self.notifications(60, seed: 713))
            _ = try await RetentionStore(connection).prepare(now: Self.longAgo)
            _ = try await LedgerStore(connection).apply(early, moving: [], recordedAt: Self.longAgo)
            try await Self.apply(late, connection)
            try await Self.drop(before: Self.longAgo.addingTimeInterval(31 * 86_400), connection)
            let purchases = Set((early + late).compactMap(\.event?.key))
            let truncated = Set(early.compactMap(\.event?.key)).count
            #expect(truncated > 5 && purchases.count == truncated + 1)
            let outcome = await CommandOutcome.of(["rebuild"], environment: database.environment)
            #expect(outcome.code == 0, "\(outcome.text)")
            #expect(outcome.text.contains("1 of \(purchases.count) purchases compared: no differences"))
            #expect(outcome.text.contains("\(truncated) purchases not compared: retention"), "\(outcome.text)")
            #expect(!outcome.text.contains("changed during every comparison"))
            // What is left to be judged is judged.
            try await connection.run(
                unsafeScript: "update subscription set status = 4 where original_transaction_id = '23'")
            let tampered = await CommandOutcome.of(["rebuild"], environment: database.environment)
            #expect(tampered.code == 1 && tampered.text.contains("status is 4"), "\(tampered.text)")
        }
    }

    @Test func `where nothing could be judged nothing is said to be proven`() async throws {
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            let entries = try Self.entries(Self.notifications(60, seed: 714))
            _ = try await RetentionStore(connection).prepare(now: Self.longAgo)
            _ = try await LedgerStore(connection).apply(entries, moving: [], recordedAt: Self.longAgo)
            try await Self.drop(before: Self.longAgo.addingTimeInterval(31 * 86_400), connection)
            let outcome = await CommandOutcome.of(["rebuild"], environment: database.environment)
            #expect(outcome.code == 1)
            #expect(outcome.text.contains("nothing is proven"), "\(outcome.text)")
            #expect(!outcome.text.contains("no differences"))
        }
    }

    @Test func `what is recorded while it runs is no difference`() async throws {
        try await Self.use(seed: 713) { connection, database async throws in
            let late = try Self.entries(Self.notifications(120, seed: 800))
            async let arriving: Void = Self.apply(late, TestDatabase.connection(database), from: -50)
            let outcome = await CommandOutcome.of(["rebuild"], environment: database.environment)
            try await arriving
            #expect(outcome.code == 0, "\(outcome.text) \(outcome.errorOutput)")
            let again = await CommandOutcome.of(["rebuild"], environment: database.environment)
            #expect(again.text.contains("300 notifications applied"), "\(again.text)")
            #expect(again.code == 0)
        }
    }

    @Test func `a schema that is there already is not touched, and one that is kept can be looked at`() async throws {
        try await Self.use(seed: 715) { connection, database async throws in
            try await connection.run(unsafeScript: "create schema public_rebuild")
            let rejected = await CommandOutcome.of(["rebuild"], environment: database.environment)
            #expect(rejected.code == 1)
            #expect(rejected.errorOutput.contains("public_rebuild"))
            let kept = await CommandOutcome.of(
                ["rebuild", "--keep", "--into", "rebuilt"], environment: database.environment)
            #expect(kept.code == 0, "\(kept.errorOutput)")
            let statement = Statement(unsafeSQL: "select count(*) as purchases from rebuilt.subscription")
            #expect(try await connection.execute(statement)[0].value("purchases", as: Int64.self) > 0)
            #expect(try await Self.schemas(connection) == 2)
            let same = await CommandOutcome.of(["rebuild", "--into", "public"], environment: database.environment)
            #expect(same.code == 64)
        }
    }
}
