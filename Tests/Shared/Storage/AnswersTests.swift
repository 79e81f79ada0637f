import Contracts
import Foundation
import Postgres
import Subscriptions
import TestSupport
import Testing

@testable import Storage

/// The database answers as the pure functions do.
@Suite(.serialized) struct AnswersTests {
    static let tokens = ["7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7b", "11111111-2017-4a4e-8f3b-2f1a5d1f7a7b"]

    /// Lives of all kinds of products, with refunds, upgrades, families and contradictions.
    static func lives(seed: UInt64, _ fixtures: inout Fixtures) -> [LedgerEntry] {
        (0..<90).map { index in
            var entry = fixtures.entry(purchases: 6, offset: Int64(index))
            guard var news = entry.news, var facts = news.transaction else { return entry }
            let dice = Int.random(in: 0..<1000, using: &fixtures.generator)
            // One kind of product per purchase most of the time.
            let kinds = ProductKind.allCases.map(\.rawValue) + ["Auto-Renewable Subscription", "Never Heard Of"]
            let purchase = Int(news.key.originalTransactionId.suffix(1)) ?? 0
            facts.productType = kinds[dice % 9 == 0 ? dice % kinds.count : purchase % 3 == 2 ? purchase : 0]
            facts.subscriptionGroupIdentifier = dice % 6 == 0 ? nil : dice % 5 == 0 ? "g2" : "g1"
            facts.ownership = dice % 3 == 0 ? "FAMILY_SHARED" : "PURCHASED"
            facts.revocationDate = dice % 4 == 0 ? news.stamp.signedDate : nil
            facts.isUpgraded = dice % 7 == 0
            if dice % 13 == 0 { facts.expiresDate = nil }
            if dice % 17 == 0 { facts.purchaseDate = nil }
            if dice % 19 == 0 { facts.expiresDate = facts.purchaseDate }
            facts.appAccountToken = dice % 10 == 0 ? tokens[1] : tokens[0]
            news.transaction = facts
            news.bundleId = "com.example.app"
            news.renewal?.gracePeriodExpiresDate =
                dice % 2 == 0 ? news.stamp.signedDate.addingTimeInterval(Double(dice % 50) * 86_400) : nil
            if dice % 4 == 1 { news.renewal?.isInBillingRetry = nil }
            // Of the period that ends about now.
            if dice % 3 == 0 { news.transaction?.expiresDate = news.stamp.signedDate.addingTimeInterval(3600) }
            if dice % 5 < 2 {
                news.notificationType = "DID_CHANGE_RENEWAL_STATUS"
                news.subtype = dice % 5 == 0 ? "AUTO_RENEW_DISABLED" : "AUTO_RENEW_ENABLED"
            }
            entry.news = news
            return entry
        }
    }

    static func use(
        seed: UInt64, _ body: (PostgresConnection, [SubscriptionKey]) async throws -> Void
    ) async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            var fixtures = Fixtures(seed: seed)
            let entries = lives(seed: seed, &fixtures)
            _ = try await LedgerStore(connection).apply(
                entries, moving: [Fixtures.move(0, 90)], recordedAt: Fixtures.now)
            try await body(connection, Set(entries.compactMap { $0.news?.key }).sorted())
        }
    }

    @Test(arguments: 400...419 as ClosedRange<UInt64>)
    func `entitlements are the same by SQL and by the pure function, at many instants`(seed: UInt64) async throws {
        try await Self.use(seed: seed) { connection, keys async throws in
            let store = EntitlementStore(connection)
            try await store.setLevels(["pro.0": 1, "pro.1": 2], ofApp: "com.example.app")
            let levels = GroupLevels(["pro.0": 1, "pro.1": 2])
            var holdings: [Holding] = []
            for key in keys {
                guard let subscription = try await SubscriptionStore(connection).find(key) else { continue }
                holdings.append(
                    Holding(
                        subscription: subscription,
                        transactions: try await TransactionStore(connection).transactions(of: key)))
            }
            var verdicts: Set<String> = []
            for hour in stride(from: -48, to: 4000, by: 37) {
                let now = Fixtures.epoch.addingTimeInterval(Double(hour) * 3600)
                let expected = Entitlements(of: holdings, levels: levels, at: now).rulings.map { ruling in
                    EntitlementStore.Row(
                        key: ruling.key, transactionId: ruling.transaction?.transactionId, until: ruling.until,
                        verdict: ruling.verdict.rawValue, givesAccess: ruling.verdict.givesAccess)
                }
                let found = try await store.entitlements(
                    of: keys.map(\.originalTransactionId), in: .production, at: now)
                #expect(found == expected)
                verdicts.formUnion(found.map(\.verdict))
            }
            // That there was something to compare.
            #expect(verdicts.count > 2)
        }
    }

    @Test(arguments: 430...434 as ClosedRange<UInt64>)
    func `cancellations and reasons of expiry are the same by SQL and by the pure functions`(
        seed: UInt64
    ) async throws {
        try await Self.use(seed: seed) { connection, keys async throws in
            let insight = InsightStore(connection)
            var cancellations = 0
            for key in keys {
                let steps = try await StepStore(connection).steps(of: key)
                let expected = Cancellation.all(in: steps).map {
                    InsightStore.CancellationRow(
                        transactionId: $0.transactionId, at: $0.at, secondsBeforeEnd: $0.secondsBeforeEnd,
                        timing: $0.timing.rawValue, isUndone: $0.isUndone)
                }
                let found = try await insight.cancellations(of: key)
                let order = { (one: InsightStore.CancellationRow, other: InsightStore.CancellationRow) in
                    (one.at, one.transactionId ?? "", one.isUndone ? 1 : 0)
                        < (other.at, other.transactionId ?? "", other.isUndone ? 1 : 0)
                }
                #expect(found.sorted(by: order) == expected.sorted(by: order))
                cancellations += found.count
                let subscription = try await SubscriptionStore(connection).find(key)
                let marks = try await MarkStore(connection).marks(of: key)
                #expect(try await insight.expiryReason(of: key) == subscription?.expiryReason(marks))
            }
            #expect(cancellations > 0)
        }
    }
}
