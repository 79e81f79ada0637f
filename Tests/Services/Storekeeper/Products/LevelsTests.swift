import Contracts
import Foundation
import Postgres
import Records
import Storage
import Subscriptions
import TestSupport
import Testing

@testable import Storekeeper

struct LevelsTests {
    private struct Row: Decodable {
        var productId: String
        var isHighestLevel: Bool?
    }

    private static let account = "7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7b"

    @Test func `The product of the highest level is marked, and the others stay listed`() async throws {
        try await TestDatabase.use { database async throws in
            let ledger = SampleLedger(connection: TestDatabase.connection(database))
            let now = CommandOutcome.now
            try await ledger.subscribe("1", product: "silver", until: now.addingTimeInterval(20 * 86_400), Self.account)
            try await ledger.subscribe("2", product: "gold", until: now.addingTimeInterval(10 * 86_400), Self.account)
            func run(_ arguments: String...) async -> CommandOutcome {
                await database.run(["products", "levels", "--app", "com.example.app"] + arguments)
            }
            func marked() async throws -> [String: Bool?] {
                let shown = await database.run(["entitlements", "--environment", "Production", Self.account, "--json"])
                let rows: [Row] = try shown.json()
                return Dictionary(uniqueKeysWithValues: rows.map { ($0.productId, $0.isHighestLevel) })
            }
            func version() async throws -> Int64 {
                try await EntitlementDefinitionStore(ledger.connection).current()
                    .version(of: ["com.example.app"], in: .production)
            }
            #expect(await run().text.contains("none ranks above another"))
            #expect(try await marked() == ["silver": true, "gold": true])
            let before = try await version()
            let set = await run("gold=1", "silver=2")
            #expect(set.code == 0, "\(set.errorOutput)")
            #expect(
                set.text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.dropFirst() == [
                    "1  gold", "2  silver",
                ])
            #expect(try await marked() == ["silver": false, "gold": true])
            #expect(try await version() > before)
            #expect(await run("gold=none").code == 0)
            #expect(try await marked() == ["silver": true, "gold": false])
            let auditLog = try await OperatorActionStore(ledger.connection).newest(10)
            #expect(Set(auditLog.map(\.subject)) == ["com.example.app gold", "com.example.app silver"])
            #expect(auditLog.count == 3)
        }
    }

    @Test(arguments: [["gold"], ["gold=0"], ["gold=-1"], ["=1"], ["gold=1", "gold=2"], ["a=b=1"]])
    func `products with an invalid level exits 64`(settings: [String]) async {
        let outcome = await CommandOutcome.of(
            ["products", "levels", "--app", "com.example.app"] + settings,
            environment: ["DATABASE_URL": "postgres://nowhere"])
        #expect(outcome.code == 64)
    }
}

extension SampleLedger {
    /// A subscription of the group `metals` that runs.
    func subscribe(_ purchase: String, product: String, until end: Date, _ account: String? = nil) async throws {
        let uuid = UUID()
        let start = CommandOutcome.now.addingTimeInterval(-3600)
        let news = PurchaseEvent(
            key: SubscriptionKey(environment: .production, originalTransactionId: purchase),
            version: EventVersion(signedDate: start, notificationUUID: uuid), bundleId: "com.example.app",
            notificationType: "SUBSCRIBED", subtype: "INITIAL_BUY", status: 1,
            transaction: TransactionFacts(
                transactionId: purchase, productId: product, productType: "Auto-Renewable Subscription",
                subscriptionGroupIdentifier: "metals", purchaseDate: start, expiresDate: end, appAccountToken: account,
                signedDate: start),
            renewal: nil)
        let entry = LedgerEntry(
            notificationUUID: uuid, notificationType: "SUBSCRIBED", subtype: "INITIAL_BUY", environment: .production,
            bundleId: "com.example.app", appAppleId: 1, originalTransactionId: purchase, transactionId: purchase,
            signedDate: start, receivedAt: start, source: .webhook, decodedPayload: "{}", signedPayload: [1],
            event: news,
            position: LogPosition(topic: Topics.unique.name, partition: 0, offset: 0))
        _ = try await LedgerStore(connection).apply([entry], moving: [], recordedAt: start)
    }
}
