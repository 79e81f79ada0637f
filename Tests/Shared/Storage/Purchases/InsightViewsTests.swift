import Contracts
import Foundation
import Postgres
import Records
import Subscriptions
import TestSupport
import Testing

@testable import Storage

/// The SQL views return the results of the oracles, over generated histories.
@Suite(.serialized) struct InsightViewsTests {
    static let types = [
        "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED",
        "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED", "EXPIRED/VOLUNTARY", "EXPIRED/BILLING_RETRY",
        "EXPIRED/PRICE_INCREASE", "EXPIRED/PRODUCT_NOT_FOR_SALE", "EXPIRED", "PRICE_INCREASE/PENDING",
        "PRICE_INCREASE/ACCEPTED", "DID_RENEW", "DID_RENEW/BILLING_RECOVERY", "SUBSCRIBED/RESUBSCRIBE", "REFUND",
        "REVOKE", "DID_CHANGE_RENEWAL_PREF/UPGRADE",
    ]
    static let day: TimeInterval = 86_400

    /// Seven purchases of five periods each, with gaps of some days or months, in any order.
    static func histories(seed: UInt64) -> [LedgerEntry] {
        var fixtures = Fixtures(seed: seed)
        return (0..<140).map { index in
            func pick(_ range: Range<Int>) -> Int { Int.random(in: range, using: &fixtures.generator) }
            let purchase = "\(index % 7)"
            let place = pick(0..<5)
            let start = Fixtures.epoch.addingTimeInterval(Double(place * (40 + index % 7 * 10)) * day)
            let end = start.addingTimeInterval((index % 7 == 1 ? 1 : 30) * day)
            // Few dates, among them the bounds of a period, so that two events have the same date.
            let moments = [0, 0.5, 1, 10, 15, 20, 29, 29.5, 30, 31].map { start.addingTimeInterval($0 * day) }
            let signed = moments[pick(0..<moments.count)]
            let type = types[pick(0..<types.count)].split(separator: "/").map(String.init)
            let ownership: String? = [nil, "PURCHASED", "PURCHASED", "FAMILY_SHARED", "ASSIGNED"][index % 5]
            let isRevoked = type[0] == "REFUND" || type[0] == "REVOKE"
            let facts = TransactionFacts(
                transactionId: "\(purchase)-\(place)", productId: "pro", productType: "Auto-Renewable Subscription",
                subscriptionGroupIdentifier: "g1", purchaseDate: start, originalPurchaseDate: Fixtures.epoch,
                expiresDate: end, ownership: ownership, revocationDate: isRevoked ? signed : nil,
                revocationReason: isRevoked ? 0 : nil,
                priceMilliunits: index % 3 == 0 ? nil : 9990, signedDate: signed, reason: "RENEWAL",
                offerDiscountType: place == 0 ? "FREE_TRIAL" : nil)
            let uuid = fixtures.uuid()
            let event = PurchaseEvent(
                key: SubscriptionKey(environment: .production, originalTransactionId: purchase),
                version: EventVersion(signedDate: signed, notificationUUID: uuid), bundleId: "com.example.app",
                notificationType: type[0], subtype: type.count > 1 ? type[1] : nil,
                status: pick(0..<9) == 0 ? 2 : nil, transaction: pick(0..<12) == 0 ? nil : facts,
                renewal: pick(0..<3) > 0
                    ? nil : RenewalFacts(priceIncreaseStatus: [nil, 0, 0, 1][pick(0..<4)], signedDate: signed))
            return LedgerEntry(
                notificationUUID: uuid, notificationType: type[0], subtype: event.subtype, environment: .production,
                bundleId: "com.example.app", appAppleId: 1, originalTransactionId: purchase,
                transactionId: event.transaction?.transactionId, signedDate: signed, receivedAt: signed,
                source: .webhook, decodedPayload: "{}", signedPayload: [1], event: event,
                position: LogPosition(topic: Topics.unique.name, partition: 0, offset: Int64(index)))
        }
    }

    static func use(
        seed: UInt64, _ body: (PostgresConnection, [String: [PurchaseEvent]]) async throws -> Void
    ) async throws {
        let entries = histories(seed: seed)
        try await LedgerStoreTests.use { connection, _ async throws in
            _ = try await LedgerStore(connection).apply(entries, moving: [], recordedAt: Fixtures.now)
            try await body(
                connection, Dictionary(grouping: entries.compactMap(\.event)) { $0.key.originalTransactionId })
        }
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func `Cancellations by SQL are those of the Swift functions`(seed: UInt64) async throws {
        try await Self.use(seed: seed) { connection, histories async throws in
            let rows = try await connection.execute(
                Statement(
                    unsafeSQL: """
                        select original_transaction_id, transaction_id, cancelled_at, seconds_before_end, timing, is_undone
                        from cancellation
                        """))
            let stored = try rows.map { row in
                "\(try row.value("original_transaction_id", as: String.self)) "
                    + "\(try row.optional("transaction_id", as: String.self) ?? "-") "
                    + "\(try row.value("cancelled_at", as: Date.self)) \(try row.value("timing", as: String.self)) "
                    + "\(try row.optional("seconds_before_end", as: Double.self) ?? -1) "
                    + "\(try row.value("is_undone", as: Bool.self))"
            }
            let expected = histories.flatMap { purchase, events in
                Cancellation.all(in: events).map {
                    "\(purchase) \($0.transactionId ?? "-") \($0.at) \($0.timing) \($0.secondsBeforeEnd ?? -1) \($0.isUndone)"
                }
            }
            #expect(stored.sorted() == expected.sorted())
            #expect(Set(expected).count > 5)
        }
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func `Ends of subscriptions and price consents by SQL are those of the Swift functions`(seed: UInt64) async throws {
        try await Self.use(seed: seed) { connection, histories async throws in
            let ends = try await connection.execute(
                Statement(unsafeSQL: "select original_transaction_id, ended_at, reason from subscription_end")
            ).map { row in
                "\(try row.value("original_transaction_id", as: String.self)) \(try row.value("ended_at", as: Date.self)) "
                    + "\(try row.value("reason", as: String.self))"
            }
            let expectedEnds = histories.flatMap { purchase, events in
                SubscriptionEnd.all(in: events).map { "\(purchase) \($0.at) \($0.reason)" }
            }
            #expect(ends.sorted() == expectedEnds.sorted())
            let consents = try await connection.execute(
                Statement(unsafeSQL: "select original_transaction_id, consent, signed_at from price_consent")
            ).map { row in
                "\(try row.value("original_transaction_id", as: String.self)) \(try row.value("consent", as: String.self)) "
                    + "\(try row.value("signed_at", as: Date.self))"
            }
            let known = try await SubscriptionStore(connection).all()
            let expectedConsents = known.compactMap { subscription -> String? in
                let purchase = subscription.key.originalTransactionId
                switch PriceConsent(of: subscription, events: histories[purchase] ?? []) {
                case .none: return nil
                case .pending(let since): return "\(purchase) pending \(since)"
                case .accepted(let at): return "\(purchase) accepted \(at)"
                case .refused(let at): return "\(purchase) refused \(at)"
                }
            }
            #expect(consents.sorted() == expectedConsents.sorted())
        }
    }

    /// Apple's renewal info asks on until the subscriber answers.
    @Test func `A price consent that a renewal at the old price leaves open is pending after it (T7)`() async throws {
        var fixtures = Fixtures(seed: 7)
        func entry(_ type: String, _ subtype: String?, _ signed: Double, _ id: String) -> LedgerEntry {
            func day(_ number: Double) -> Date { Fixtures.epoch.addingTimeInterval(number * Self.day) }
            let uuid = fixtures.uuid()
            let event = PurchaseEvent(
                key: SubscriptionKey(environment: .production, originalTransactionId: "1"),
                version: EventVersion(signedDate: day(signed), notificationUUID: uuid), bundleId: "com.example.app",
                notificationType: type, subtype: subtype, status: 1,
                transaction: TransactionFacts(
                    transactionId: id, productId: "pro", productType: "Auto-Renewable Subscription",
                    purchaseDate: day(id == "1" ? 0 : 30), expiresDate: day(id == "1" ? 30 : 60),
                    signedDate: day(signed)),
                renewal: RenewalFacts(priceIncreaseStatus: 0, signedDate: day(signed)))
            return LedgerEntry(
                notificationUUID: uuid, notificationType: type, subtype: subtype, environment: .production,
                bundleId: "com.example.app", appAppleId: 1, originalTransactionId: "1", transactionId: id,
                signedDate: day(signed), receivedAt: day(signed), source: .webhook, decodedPayload: "{}",
                signedPayload: [1], event: event,
                position: LogPosition(topic: Topics.unique.name, partition: 0, offset: Int64(signed)))
        }
        let asked = entry("PRICE_INCREASE", "PENDING", 5, "1")
        let renewed = entry("DID_RENEW", nil, 30, "2")
        try await LedgerStoreTests.use { connection, _ async throws in
            _ = try await LedgerStore(connection).apply([asked, renewed], moving: [], recordedAt: Fixtures.now)
            let rows = try await connection.execute(
                Statement(unsafeSQL: "select consent, signed_at from price_consent"))
            #expect(try rows.map { try $0.value("consent", as: String.self) } == ["pending"])
            #expect(try rows.map { try $0.value("signed_at", as: Date.self) } == [renewed.event?.version.signedDate])
            let stored = try await SubscriptionStore(connection).all()
            let consents = stored.map { PriceConsent(of: $0, events: [asked, renewed].compactMap(\.event)) }
            #expect(consents == [.pending(since: Fixtures.epoch.addingTimeInterval(30 * Self.day))])
        }
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func `Loyalty by SQL is that of the Swift function at any moment`(seed: UInt64) async throws {
        try await Self.use(seed: seed) { connection, histories async throws in
            let transactions = TransactionStore(connection)
            var compared = 0
            for subscription in try await SubscriptionStore(connection).all() {
                let key = subscription.key
                let purchase = PurchaseSnapshot(
                    subscription: subscription, transactions: try await transactions.versions(of: key))
                for day in [-1.0, 3, 45, 100, 250, 900] {
                    let moment = Fixtures.epoch.addingTimeInterval(day * Self.day)
                    let rows = try await connection.execute(Self.loyalty, [key.originalTransactionId], moment)
                    let expected = Loyalty([purchase], environment: .production, at: moment)
                    #expect(try rows.first?.optional("recent_start_at") == expected.recentStart, "\(key) day \(day)")
                    let paid = try rows.first?.value("paid_seconds", as: Double.self) ?? 0
                    #expect(abs(paid - expected.paidSeconds) < 0.001, "\(key) day \(day)")
                    let reduced = try rows.first?.optional("reduced_commission_at", as: Date.self)
                    #expect(reduced == expected.reducedCommissionStart, "\(key) day \(day)")
                    if expected.paidSeconds > 0 { compared += 1 }
                }
            }
            #expect(compared > 5)
        }
    }

    static let loyalty = Statement(
        unsafeSQL: """
            select recent_start_at, paid_seconds, reduced_commission_at
            from loyalty_at('Production', $1::text[], $2::timestamptz)
            """)
}
