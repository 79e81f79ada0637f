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
        (0..<120).map { index in
            var entry = fixtures.entry(purchases: 9, offset: Int64(index))
            guard var news = entry.news, var facts = news.transaction else {
                if !seed.isMultiple(of: 2) { entry.news = entry.news.map(inSandbox) }
                return entry
            }
            let dice = Int.random(in: 0..<1000, using: &fixtures.generator)
            // One kind of product per purchase most of the time.
            let kinds = ProductKind.allCases.map(\.rawValue) + ["Never Heard Of"]
            let purchase = Int(news.key.originalTransactionId.suffix(1)) ?? 0
            facts.productType = kinds[dice % 9 == 0 ? dice % kinds.count : [0, 0, 0, 0, 1, 1, 2, 3, 4][purchase]]
            facts.subscriptionGroupIdentifier = dice % 6 == 0 ? nil : dice % 5 == 0 ? "g2" : "g1"
            facts.ownership = dice % 3 == 0 ? "FAMILY_SHARED" : "PURCHASED"
            facts.revocationDate = dice % 4 == 0 ? news.version.signedDate : nil
            facts.isUpgraded = dice % 7 == 0
            if dice % 13 == 0 { facts.expiresDate = nil }
            if dice % 17 == 0 { facts.purchaseDate = nil }
            if dice % 19 == 0 { facts.expiresDate = facts.purchaseDate }
            facts.appAccountToken = dice % 10 == 0 ? tokens[1] : tokens[0]
            news.transaction = facts
            news.bundleId = "com.example.app"
            news.renewal?.gracePeriodExpiresDate =
                dice % 2 == 0 ? news.version.signedDate.addingTimeInterval(Double(dice % 50) * 86_400) : nil
            if dice % 4 == 1 || dice % 4 == 2 { news.renewal?.isInBillingRetry = nil }
            // Of the period that ends about now.
            if dice % 3 == 0 { news.transaction?.expiresDate = news.version.signedDate.addingTimeInterval(43_200) }
            if dice % 11 == 0, var facts = news.transaction {
                (facts.revocationDate, facts.isUpgraded) = (nil, false)
                facts.purchaseDate = news.version.signedDate.addingTimeInterval(-86_400)
                facts.expiresDate = news.version.signedDate.addingTimeInterval(43_200)
                (news.transaction, news.status) = (facts, 4)
                news.renewal = RenewalFacts(
                    isInBillingRetry: true,
                    gracePeriodExpiresDate: news.version.signedDate.addingTimeInterval(20 * 86_400),
                    signedDate: news.version.signedDate)
            }
            if dice % 5 < 2 {
                news.notificationType = "DID_CHANGE_RENEWAL_STATUS"
                news.subtype = dice % 5 == 0 ? "AUTO_RENEW_DISABLED" : "AUTO_RENEW_ENABLED"
            }
            entry.news = seed.isMultiple(of: 2) ? news : inSandbox(news)
            return entry
        }
    }

    /// How many times faster time goes in the sandbox: a month is five minutes.
    static let haste = 8640.0

    /// A moment of the production lives, in those of the sandbox, to the second.
    static func hastened(_ date: Date) -> Date {
        Fixtures.epoch.addingTimeInterval((date.timeIntervalSince(Fixtures.epoch) / haste).rounded())
    }

    /// The same life with the periods of the sandbox.
    static func inSandbox(_ news: PurchaseEvent) -> PurchaseEvent {
        var news = news
        news.key.environment = .sandbox
        news.version.signedDate = hastened(news.version.signedDate)
        if var facts = news.transaction {
            facts.purchaseDate = facts.purchaseDate.map(hastened)
            facts.originalPurchaseDate = facts.originalPurchaseDate.map(hastened)
            facts.expiresDate = facts.expiresDate.map(hastened)
            facts.revocationDate = facts.revocationDate.map(hastened)
            facts.signedDate = hastened(facts.signedDate)
            news.transaction = facts
        }
        if var renewal = news.renewal {
            renewal.gracePeriodExpiresDate = renewal.gracePeriodExpiresDate.map(hastened)
            renewal.signedDate = hastened(renewal.signedDate)
            news.renewal = renewal
        }
        return news
    }

    static func environment(seed: UInt64) -> StoreEnvironment { seed.isMultiple(of: 2) ? .production : .sandbox }

    /// From before the first notification until everything is over.
    static func instants(seed: UInt64) -> [Date] {
        stride(from: -48.0, to: 4000, by: 37).map { hour in
            let moment = Fixtures.epoch.addingTimeInterval(hour * 3600)
            return environment(seed: seed) == .production ? moment : hastened(moment)
        }
    }

    static func use(
        seed: UInt64, _ body: (PostgresConnection, [SubscriptionKey]) async throws -> Void
    ) async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            var fixtures = Fixtures(seed: seed)
            let entries = lives(seed: seed, &fixtures)
            _ = try await LedgerStore(connection).apply(
                entries, moving: [Fixtures.move(0, 120)], recordedAt: Fixtures.now)
            try await body(connection, Set(entries.compactMap { $0.news?.key }).sorted())
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
