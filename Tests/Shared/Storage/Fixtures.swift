import Contracts
import Foundation
import Records
import Storage
import Subscriptions
import TestSupport

/// Ledger entries of simulated customers, the same for the same seed.
struct Fixtures {
    var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(state: seed) }

    static let topic = "notifications.unique"
    static let epoch = Date(timeIntervalSince1970: 1_750_000_000)
    static let now = Date(timeIntervalSince1970: 1_760_000_000.5)

    /// Moves partition 0 of the usual group.
    static func move(_ expected: Int64, _ next: Int64, partition: Int32 = 0) -> PositionMove {
        PositionMove(
            cluster: "cluster", group: "state-updater", topic: topic, partition: partition, expected: expected,
            next: next)
    }

    mutating func uuid() -> UUID {
        let (left, right) = (generator.next(), generator.next())
        return UUID(
            uuidString: String(
                format: "%08X-%04X-4%03X-A%03X-%012llX",
                UInt32(truncatingIfNeeded: left), UInt16(truncatingIfNeeded: left >> 32), UInt16(left >> 52),
                UInt16(right >> 52), right & 0xffff_ffff_ffff)) ?? UUID()
    }

    /// A random event of one of a few purchases.
    mutating func entry(
        purchases: Int = 5, offset: Int64 = 0, partition: Int32 = 0, environment: StoreEnvironment = .production
    ) -> LedgerEntry {
        let id = "2000000\(Int.random(in: 0..<purchases, using: &generator))"
        // Few different dates, so that two events have the same one.
        let second = Int.random(in: 0..<40, using: &generator)
        let signedDate = Date(milliseconds: 1_750_000_000_001 + Int64(second) * 86_400_000)
        let uuid = uuid()
        let parts = Int.random(in: 0..<8, using: &generator)
        let version = Int.random(in: 0..<1000, using: &generator)
        let transaction = TransactionFacts(
            transactionId: "\(id)-\(second / 10)", productId: "pro.\(version % 3)",
            productType: "Auto-Renewable Subscription", subscriptionGroupIdentifier: "g1",
            purchaseDate: Date(milliseconds: signedDate.milliseconds - 60_000), originalPurchaseDate: Self.epoch,
            expiresDate: Date(milliseconds: signedDate.milliseconds + 2_592_000_000), quantity: version,
            appAccountToken: "7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7b", ownership: "PURCHASED",
            isUpgraded: version % 7 == 0,
            revocationDate: version % 5 == 0 ? signedDate : nil, revocationReason: version % 5 == 0 ? 1 : nil,
            offerType: version % 4, offerIdentifier: "offer", priceMilliunits: 9990, currency: "EUR",
            signedDate: signedDate, reason: version % 2 == 0 ? "RENEWAL" : nil,
            offerDiscountType: version % 4 == 1 ? "FREE_TRIAL" : nil,
            revocationType: version % 5 == 0 ? "REFUND_PRORATED" : nil,
            appTransactionId: version % 3 == 0 ? nil : "70\(id)",
            webOrderLineItemId: "w\(version)",
            previousOriginalTransactionId: version % 11 == 0 ? "1\(id)" : nil,
            additionalTransactionReason: version % 13 == 0 ? "SEAT_ADDITION" : nil,
            revokedSeatQuantity: version % 13 == 0 ? 2 : nil,
            multiSeatInfo: version % 3 == 0 ? "{\"seats\": \(version)}" : nil,
            revocationPercentage: version % 5 == 0 ? Int64(version) * 100 : nil,
            itemRefunds: version % 10 == 0
                ? [.init(date: Date(milliseconds: signedDate.milliseconds - 86_400_000), amount: Int64(version))] : [],
            storefront: version % 2 == 0 ? "DEU" : nil, offerPeriod: version % 4 == 0 ? "P1M" : nil,
            billingPlanType: version % 7 == 0 ? "MONTHLY" : nil,
            commitmentInfo: version % 7 == 0 ? "{\"months\" : 12}" : nil)
        let renewal = RenewalFacts(
            autoRenewStatus: version % 2 == 0, autoRenewProductId: "pro.\(version % 4)",
            isInBillingRetry: version % 3 == 0,
            gracePeriodExpiresDate: version % 4 == 0 ? signedDate : nil, expirationIntent: version % 6,
            priceIncreaseStatus: version % 3 == 0 ? version % 2 : nil,
            recentSubscriptionStartDate: Self.epoch,
            renewalDate: Date(milliseconds: signedDate.milliseconds + 2_592_000_000),
            signedDate: signedDate, productId: version % 2 == 0 ? "pro.\(version % 3)" : nil,
            renewalPriceMilliunits: Int64(version) - 10, currency: "EUR", offerType: version % 5,
            offerIdentifier: version % 2 == 0 ? "spring" : nil,
            appAccountToken: version % 3 == 0 ? "7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7b" : nil,
            eligibleWinBackOfferIds: version % 5 == 0 ? ["one", "t,w\"o"] : nil,
            offerPeriod: version % 4 == 0 ? "P3M" : nil, billingPlanType: version % 7 == 0 ? "MONTHLY" : nil,
            commitmentInfo: version % 7 == 0 ? "[1, 2]" : nil)
        let name = EventType.allCases.randomElement(using: &generator)?.rawValue ?? "DID_RENEW"
        let words = name.split(separator: "/").map(String.init)
        let event = PurchaseEvent(
            key: SubscriptionKey(environment: environment, originalTransactionId: id),
            version: EventVersion(signedDate: signedDate, notificationUUID: uuid),
            bundleId: version % 50 == 0 ? "com.example.other" : "com.example.app",
            notificationType: version % 20 == 0 ? "NEVER_HEARD_OF" : words[0],
            subtype: words.count > 1 ? words[1] : nil, status: parts & 1 == 0 ? version % 5 + 1 : nil,
            transaction: parts & 2 == 0 ? transaction : nil, renewal: parts & 4 == 0 ? renewal : nil,
            renewalOriginalTransactionId: version % 30 == 0 ? "another" : nil)
        return LedgerEntry(
            notificationUUID: uuid, notificationType: event.notificationType, subtype: event.subtype,
            environment: environment, bundleId: "com.example.app", appAppleId: 1_234_567_890,
            originalTransactionId: id, transactionId: transaction.transactionId, signedDate: signedDate,
            receivedAt: Self.now.addingTimeInterval(-0.25), source: .webhook,
            decodedPayload: "{\"notificationUUID\" : \"\(uuid.uuidString)\", \"v\": \(version)}",
            signedPayload: Array("not.really.signed-\(version)".utf8), event: event,
            position: LogPosition(topic: Self.topic, partition: partition, offset: offset))
    }

    mutating func entries(_ count: Int, purchases: Int = 5) -> [LedgerEntry] {
        (0..<count).map { entry(purchases: purchases, offset: Int64($0)) }
    }

    /// The expected state after these entries, in any order.
    static func states(after entries: [LedgerEntry]) -> [SubscriptionKey: Subscription] {
        var states: [SubscriptionKey: Subscription] = [:]
        var seen: Set<UUID> = []
        for entry in entries where seen.insert(entry.notificationUUID).inserted {
            guard let event = entry.event else { continue }
            states[event.key] = Subscription.applying(event, known: states[event.key]).subscription
        }
        return states
    }
}

/// SplitMix64: small, and the same everywhere.
