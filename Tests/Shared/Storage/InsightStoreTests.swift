import Contracts
import Foundation
import Postgres
import Storage
import Subscriptions
import TestSupport
import Testing

/// The views for insight answer as the pure functions do (I1 to I3, I7).
@Suite(.serialized) struct InsightStoreTests {
    /// Periods of a week or a month, some touching, some overlapping, some after gaps about as long as allowed.
    static func payingLives(seed: UInt64, in environment: StoreEnvironment) -> [LedgerEntry] {
        var fixtures = Fixtures(seed: seed)
        let unit = environment == .production ? 86_400.0 : 60
        let longestGap = environment == .production ? 60.0 : 10
        var ends: [String: Date] = [:]
        return (0..<90).map { index in
            var entry = fixtures.entry(purchases: 3, offset: Int64(index), environment: environment)
            guard var news = entry.news else { return entry }
            let dice = Int.random(in: 0..<10_000, using: &fixtures.generator)
            let group = "g\(dice % 2)"
            let name = news.key.originalTransactionId + group
            // Before the end, at it, at the longest gap, just beyond it, or somewhere.
            let gap = [-20, 0, 0, 0, 3.5, longestGap, longestGap + 0.01, longestGap * 2][dice / 2 % 8] * unit
            let begins = (ends[name] ?? Fixtures.epoch).addingTimeInterval(gap)
            let expires = begins.addingTimeInterval((dice % 3 == 0 ? 7 : 31) * unit)
            ends[name] = expires
            var facts = TransactionFacts(
                transactionId: "\(index)", productId: "gold", productType: "Auto-Renewable Subscription",
                subscriptionGroupIdentifier: group, purchaseDate: begins, expiresDate: expires,
                ownership: dice % 23 == 0 ? "FAMILY_SHARED" : dice % 5 == 0 ? nil : "PURCHASED",
                priceMilliunits: dice % 29 == 0 ? 0 : dice % 31 == 0 ? -5 : dice % 7 == 0 ? nil : 9990,
                signedDate: news.version.signedDate, offerDiscountType: dice % 17 == 0 ? "FREE_TRIAL" : nil)
            if dice % 19 == 0 { facts.revocationDate = begins.addingTimeInterval(Double(dice % 9) * unit) }
            if dice % 38 == 0 { facts.revocationType = "REFUND_PRORATED" }
            if dice % 41 == 0 { facts.purchaseDate = nil }
            if dice % 43 == 0 { facts.expiresDate = nil }
            if dice % 47 == 0 { facts.productType = "Non-Renewing Subscription" }
            if dice % 53 == 0 { facts.subscriptionGroupIdentifier = nil }
            news.transaction = facts
            entry.news = news
            return entry
        }
    }

    @Test(arguments: 603...608 as ClosedRange<UInt64>, [StoreEnvironment.production, .sandbox])
    func `loyalty, paid time and the 85 percent are the same by SQL and by the pure function, at many instants`(
        seed: UInt64, environment: StoreEnvironment
    ) async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            let entries = Self.payingLives(seed: seed, in: environment)
            _ = try await LedgerStore(connection).apply(
                entries, moving: [Fixtures.move(0, 90)], recordedAt: Fixtures.now)
            let keys = Set(entries.compactMap { $0.news?.key }).sorted()
            var transactions: [TransactionFacts] = []
            for key in keys { transactions += try await TransactionStore(connection).transactions(of: key) }
            let groups = Dictionary(grouping: transactions) { $0.subscriptionGroupIdentifier ?? "" }
            let unit = environment == .production ? 86_400.0 : 60
            var seen = (paid: false, reduced: false)
            for step in stride(from: -10.0, to: 2500, by: 191.3) {
                let now = Fixtures.epoch.addingTimeInterval(step * unit)
                let found = try await InsightStore(connection).loyalty(
                    of: keys.map(\.originalTransactionId), in: environment, at: now)
                for group in ["g0", "g1"] {
                    let expected = Loyalty(groups[group] ?? [], environment: environment, at: now)
                    let row = found.first { $0.subscriptionGroupIdentifier == group }
                    #expect(row?.recentStart == expected.recentStart)
                    #expect(abs((row?.paidSeconds ?? 0) - expected.paidSeconds) < 0.001)
                    #expect((row?.reducedCommissionStart == nil) == (expected.reducedCommissionStart == nil))
                    if let date = row?.reducedCommissionStart, let other = expected.reducedCommissionStart {
                        #expect(abs(date.timeIntervalSince(other)) < 0.001)
                        seen.reduced = true
                    }
                    if expected.paidSeconds > 0 { seen.paid = true }
                }
                #expect(found.allSatisfy { ["g0", "g1"].contains($0.subscriptionGroupIdentifier) })
            }
            #expect(seen.paid)
            #expect(seen.reduced || environment == .sandbox)
        }
    }

    @Test(arguments: 620...629 as ClosedRange<UInt64>)
    func `price consent and switches of auto-renew are the same by SQL and by the pure functions`(
        seed: UInt64
    ) async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            var fixtures = Fixtures(seed: seed)
            let events = [
                "PRICE_INCREASE/PENDING", "PRICE_INCREASE/ACCEPTED", "EXPIRED/PRICE_INCREASE", "DID_RENEW",
                "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED",
                "REFUND", "DID_CHANGE_RENEWAL_PREF",
            ]
            let entries = (0..<80).map { index in
                var entry = fixtures.entry(purchases: 24, offset: Int64(index))
                let words = (events.randomElement(using: &fixtures.generator) ?? "DID_RENEW").split(separator: "/")
                entry.news?.notificationType = String(words[0])
                entry.news?.subtype = words.count > 1 ? String(words[1]) : nil
                if Bool.random(using: &fixtures.generator) { entry.news?.renewal?.priceIncreaseStatus = index % 3 }
                return entry
            }
            _ = try await LedgerStore(connection).apply(
                entries, moving: [Fixtures.move(0, 80)], recordedAt: Fixtures.now)
            let insight = InsightStore(connection)
            var seen: Set<String> = []
            var switched = 0
            for (key, news) in Dictionary(grouping: entries.compactMap(\.news), by: \.key) {
                let subscription = try #require(try await SubscriptionStore(connection).find(key))
                let marks = try await MarkStore(connection).marks(of: key)
                let consent = PriceConsent(of: subscription, marks)
                #expect(try await insight.priceConsent(of: key) == consent)
                seen.insert("\(consent)".prefix { $0 != "(" }.description)
                let switches = RenewalSwitch.counts(in: news)
                #expect(try await insight.renewalSwitches(of: key) == switches)
                switched += switches.count
            }
            #expect(seen.count >= 3)
            #expect(switched > 0)
            let nobody = SubscriptionKey(environment: .sandbox, originalTransactionId: "1")
            #expect(try await insight.priceConsent(of: nobody) == nil)
        }
    }

    @Test func `the views list every customer of their environment, as of now`() async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            let now = try #require(
                try await connection.execute(Statement(unsafeSQL: "select now() as now")).first?.value(
                    "now", as: Date.self))
            var fixtures = Fixtures(seed: 640)
            let entries = [(StoreEnvironment.production, 5.0), (.sandbox, 5), (.production, -5)].enumerated().map {
                number, place in
                var entry = CustomerStoreTests.purchase("\(number)", of: nil, by: "70\(number)", day: 0, &fixtures)
                entry.environment = place.0
                entry.news?.key.environment = place.0
                entry.news?.transaction?.subscriptionGroupIdentifier = "g"
                entry.news?.transaction?.purchaseDate = now.addingTimeInterval(-86_400 * 20)
                entry.news?.transaction?.expiresDate = now.addingTimeInterval(86_400 * place.1)
                return entry
            }
            _ = try await LedgerStore(connection).apply(
                entries, moving: [Fixtures.move(0, 3)], recordedAt: Fixtures.now)
            let current = try await connection.execute(
                Statement(
                    unsafeSQL: """
                        select customer, gives_access from current_entitlement
                        where environment = 'Production' order by customer
                        """))
            #expect(try current.map { row in try row.value("customer", as: String.self) } == ["700", "702"])
            #expect(try current.map { row in try row.value("gives_access", as: Bool.self) } == [true, false])
            let loyalty = try await connection.execute(
                Statement(unsafeSQL: "select customer, paid_seconds from loyalty where environment = 'Sandbox'"))
            #expect(try loyalty.map { row in try row.value("customer", as: String.self) } == ["701"])
            let seconds = try #require(try loyalty.first?.value("paid_seconds", as: Double.self))
            #expect((seconds / 86_400).rounded() == 20)
        }
    }
}
