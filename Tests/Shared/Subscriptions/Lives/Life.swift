import Contracts
import Foundation
import Subscriptions

/// Apple's side of a subscription: what it knows, and what it tells of each deed.
struct Life {
    enum SubscriptionState { case unborn, active, grace, retry, ended, revoked }

    static let key = SubscriptionKey(environment: .production, originalTransactionId: "2000000000000001")
    static let birth = Date(milliseconds: 1_735_689_600_000)
    static let products = ["gold", "silver", "bronze"]
    static let day = 86_400.0

    private(set) var state = SubscriptionState.unborn
    private(set) var now = birth
    /// The newest is the last.
    private(set) var transactions: [TransactionFacts] = []
    private(set) var renewal = RenewalFacts(signedDate: birth)
    private(set) var news: [PurchaseEvent] = []
    private var isPricePending = false

    /// What Apple tells of a life.
    static func news(of deeds: [Deed]) -> [PurchaseEvent] {
        var life = Life()
        for deed in deeds { life.undergo(deed) }
        return life.news
    }

    var status: Int? {
        switch state {
        case .unborn: nil
        case .active: 1
        case .ended: 2
        case .retry: 3
        case .grace: 4
        case .revoked: 5
        }
    }

    private var current: TransactionFacts? { transactions.last }
    private var end: Date { current?.expiresDate ?? now }
    private var willRenew: Bool { renewal.autoRenewStatus ?? false }

    mutating func undergo(_ deed: Deed) {
        let start = now
        now = now.addingTimeInterval(Double(deed.minutes + 1) * 60)
        // Nothing ends in silence: time stops before the end of what runs, but for the deeds that end it.
        if let limit, now >= limit { now = max(start.addingTimeInterval(1), limit.addingTimeInterval(-60)) }
        guard let told = happen(deed) else {
            now = start
            return
        }
        tell(deed, of: told)
    }

    private var limit: Date? {
        switch state {
        case .active: end
        case .grace: renewal.gracePeriodExpiresDate
        case .retry: end.addingTimeInterval(60 * Self.day)
        case .unborn, .ended, .revoked: nil
        }
    }

    /// - Returns: the place of the transaction that is told of; nil where the deed is impossible now.
    private mutating func happen(_ deed: Deed) -> Int? {
        switch deed.eventType {
        case .subscribed, .subscribedByOffer, .migrated:
            guard state == .unborn else { return nil }
            begin(Self.products[deed.choice % 3], at: now, deed)
        case .resubscribed, .resubscribedByOffer:
            guard state == .ended || state == .revoked else { return nil }
            begin(Self.products[deed.choice % 3], at: now, deed)
        case .upgraded, .upgradedByOffer:
            guard state == .active, current?.productId != Self.products[0] else { return nil }
            begin(Self.products[0], at: now, deed)
        case .renewed:
            guard state == .active, willRenew else { return nil }
            // Up to a day early, or late.
            now = max(now, end.addingTimeInterval(Double(deed.choice - 500) / 500 * 0.9 * Self.day))
            begin(renewal.autoRenewProductId ?? "gold", at: end, deed)
        case .billingRecovered:
            guard state == .grace || state == .retry else { return nil }
            if state == .grace, let grace = renewal.gracePeriodExpiresDate, now >= grace { return nil }
            begin(renewal.autoRenewProductId ?? "gold", at: state == .grace ? end : now, deed)
        case .offerRedeemed, .refundDeclined, .consumptionRequested, .massExtensionFailed, .metadataUpdated,
            .priceChanged:
            guard state != .unborn else { return nil }
        case .extended:
            guard state == .active else { return nil }
            transactions[transactions.count - 1].expiresDate = end.addingTimeInterval(10 * Self.day)
        case .refunded: return refund(deed)
        case .refundReversed: return reverseRefund()
        default: return switchOrEnd(deed)
        }
        return transactions.count - 1
    }

    private mutating func switchOrEnd(_ deed: Deed) -> Int? {
        switch (deed.eventType, state) {
        case (.renewalTurnedOff, .active) where willRenew: renewal.autoRenewStatus = false
        case (.renewalTurnedOn, .active) where !willRenew: renewal.autoRenewStatus = true
        case (.downgradeChosen, .active), (.downgradeChosenByOffer, .active):
            renewal.autoRenewProductId = Self.products[2]
        case (.choiceUndone, .active): renewal.autoRenewProductId = current?.productId
        case (.priceIncreasePending, .active):
            isPricePending = true
            renewal.priceIncreaseStatus = 0
        case (.priceIncreaseAccepted, .active) where isPricePending:
            isPricePending = false
            renewal.priceIncreaseStatus = 1
        case (.billingFailed, .active) where willRenew: fail(.retry)
        case (.billingFailedWithGrace, .active) where willRenew:
            fail(.grace)
            // Never longer than the shortest period, or a recovery could come after the end of what it paid for.
            renewal.gracePeriodExpiresDate = end.addingTimeInterval(6 * Self.day)
        case (.graceEnded, .grace):
            now = max(now, renewal.gracePeriodExpiresDate ?? now)
            state = .retry
        case (.expiredVoluntarily, .active) where !willRenew: finish(intent: 1, at: end)
        case (.expiredInBillingRetry, .retry): finish(intent: 2, at: end.addingTimeInterval(60 * Self.day))
        case (.expiredOverPrice, .active) where isPricePending: finish(intent: 3, at: end)
        case (.expiredUnsold, .active) where willRenew: finish(intent: 4, at: end)
        case (.expired, .active) where willRenew: finish(intent: 5, at: end)
        case (.familyAccessRevoked, .active) where current?.ownership == "FAMILY_SHARED":
            transactions[transactions.count - 1].revocationDate = now
            state = .revoked
        default: return nil
        }
        return transactions.count - 1
    }

    private mutating func begin(_ product: String, at date: Date, _ deed: Deed) {
        if state == .active, deed.eventType != .renewed { transactions[transactions.count - 1].isUpgraded = true }
        let isOffer = deed.eventType.rawValue.hasPrefix("OFFER") || deed.choice % 7 == 0
        transactions.append(
            TransactionFacts(
                transactionId: "200000000000\(1000 + transactions.count)", productId: product,
                productType: "Auto-Renewable Subscription", subscriptionGroupIdentifier: "metals",
                purchaseDate: date, originalPurchaseDate: Self.birth,
                expiresDate: date.addingTimeInterval((deed.choice % 5 == 0 ? 7 : 30) * Self.day), quantity: 1,
                ownership: deed.choice % 4 == 0 ? "FAMILY_SHARED" : "PURCHASED",
                offerType: isOffer ? deed.choice % 4 + 1 : nil, offerIdentifier: isOffer ? "spring" : nil,
                priceMilliunits: 9990, currency: "EUR", signedDate: now,
                // The old form of an offer says nothing of discounts and reasons.
                reason: isOffer ? nil : date == now ? "PURCHASE" : "RENEWAL"))
        renewal = RenewalFacts(
            autoRenewStatus: true, autoRenewProductId: product, isInBillingRetry: false, signedDate: now,
            productId: deed.choice % 3 == 0 ? nil : product)
        isPricePending = false
        state = .active
    }

    private mutating func fail(_ next: SubscriptionState) {
        now = max(now, end.addingTimeInterval(60))
        renewal.isInBillingRetry = true
        renewal.expirationIntent = 2
        state = next
    }

    private mutating func finish(intent: Int, at date: Date) {
        now = max(now, date)
        renewal.autoRenewStatus = false
        renewal.isInBillingRetry = false
        renewal.gracePeriodExpiresDate = nil
        renewal.expirationIntent = intent
        state = .ended
    }

    private mutating func refund(_ deed: Deed) -> Int? {
        let index = deed.choice % 2 == 0 ? transactions.count - 1 : transactions.count - 2
        guard index >= 0, transactions[index].revocationDate == nil else { return nil }
        guard index < transactions.count - 1 || state == .active else { return nil }
        transactions[index].revocationDate = now
        transactions[index].revocationReason = deed.choice % 3 == 0 ? 1 : 0
        if index == transactions.count - 1 {
            renewal.autoRenewStatus = false
            state = .revoked
        }
        return index
    }

    private mutating func reverseRefund() -> Int? {
        let index = transactions.lastIndex { $0.revocationDate != nil && $0.ownership != "FAMILY_SHARED" }
        guard let index else { return nil }
        if index == transactions.count - 1 {
            guard now < end else { return nil }
            state = .active
        }
        transactions[index].revocationDate = nil
        transactions[index].revocationReason = nil
        return index
    }

    private mutating func tell(_ deed: Deed, of index: Int) {
        let parts = deed.eventType.rawValue.split(separator: "/").map(String.init)
        var transaction = transactions[index]
        transaction.signedDate = now
        transactions[index].signedDate = now
        renewal.signedDate = now
        let number = UInt8(truncatingIfNeeded: news.count)
        news.append(
            PurchaseEvent(
                key: Self.key,
                version: EventVersion(
                    signedDate: now,
                    notificationUUID: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, number, number))),
                bundleId: "com.example.metals", notificationType: parts[0],
                subtype: parts.count > 1 ? parts[1] : nil, status: status, transaction: transaction, renewal: renewal))
    }
}
