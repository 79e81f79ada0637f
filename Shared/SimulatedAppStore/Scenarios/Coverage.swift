import AppStore
import Contracts

/// Which kinds of notifications occurred, by product type and environment, and which are still missing.
struct Coverage: Sendable {
    /// What Apple can send: a kind of notification about a type of product, or without one.
    struct Key: Sendable, Hashable, Comparable {
        var notificationType: String
        var subtype: String?
        var productType: String?

        static func < (left: Key, right: Key) -> Bool {
            (left.notificationType, left.subtype ?? "", left.productType ?? "")
                < (right.notificationType, right.subtype ?? "", right.productType ?? "")
        }
    }

    private(set) var counts: [Key: [StoreEnvironment: Int]] = [:]

    mutating func add(_ event: EventPayload) {
        let key = Key(
            notificationType: event.kind.type.rawValue, subtype: event.kind.subtype?.rawValue,
            productType: event.shownPurchase?.product.kind.type.rawValue)
        counts[key, default: [:]][event.app.environment, default: 0] += 1
    }

    /// Counts what a run sent; a repetition counts once, a forgery does not.
    init(of record: RunRecord) {
        for notification in record.notifications where notification.expectedRejection == nil {
            let key = Key(
                notificationType: notification.notificationType, subtype: notification.subtype,
                productType: notification.productType)
            counts[key, default: [:]][notification.environment, default: 0] += 1
        }
    }

    init() {}

    /// Everything documented that did not occur in one of the environments.
    func missing(in environments: [StoreEnvironment]) -> [(Key, StoreEnvironment)] {
        Self.documented.sorted().flatMap { key in
            environments.filter { (counts[key]?[$0] ?? 0) == 0 }.map { (key, $0) }
        }
    }

    /// All kinds in their order: the documented ones and others that occurred.
    var keys: [Key] { Set(counts.keys).union(Self.documented).sorted() }

    /// Apple's table: which kinds exist for which product types.
    static let documented: Set<Key> = {
        let oneTime: [TransactionType] = [.consumable, .nonConsumable, .nonRenewingSubscription]
        let all = oneTime + [.autoRenewableSubscription]
        let renewable: [NotificationKind] = [
            NotificationKind(.subscribed, .initialBuy), NotificationKind(.subscribed, .resubscribe),
            NotificationKind(.didChangeRenewalPref), NotificationKind(.didChangeRenewalPref, .upgrade),
            NotificationKind(.didChangeRenewalPref, .downgrade),
            NotificationKind(.didChangeRenewalStatus, .autoRenewEnabled),
            NotificationKind(.didChangeRenewalStatus, .autoRenewDisabled), NotificationKind(.offerRedeemed),
            NotificationKind(.offerRedeemed, .upgrade), NotificationKind(.offerRedeemed, .downgrade),
            NotificationKind(.didRenew), NotificationKind(.didRenew, .billingRecovery), NotificationKind(.expired),
            NotificationKind(.expired, .voluntary), NotificationKind(.expired, .billingRetry),
            NotificationKind(.expired, .priceIncrease), NotificationKind(.expired, .productNotForSale),
            NotificationKind(.didFailToRenew), NotificationKind(.didFailToRenew, .gracePeriod),
            NotificationKind(.gracePeriodExpired), NotificationKind(.priceIncrease, .pending),
            NotificationKind(.priceIncrease, .accepted), .extended, .extensionFailure,
            NotificationKind(.metadataUpdate),
            NotificationKind(.migration), NotificationKind(.priceChange),
            .seatsAdded, NotificationKind(.refund, .seats),
        ]
        let ofEverything: [NotificationKind] = [
            .refund, NotificationKind(.refundDeclined), NotificationKind(.refundReversed),
            NotificationKind(.consumptionRequest),
        ]
        let ofNothing: [NotificationKind] = [
            .test, .extensionSummary, NotificationKind(.unclaimSeats),
            NotificationKind(.externalPurchaseToken, .created),
            NotificationKind(.externalPurchaseToken, .activeTokenReminder),
            NotificationKind(.externalPurchaseToken, .unreported), NotificationKind(.rescindConsent),
        ]
        var keys = Set(renewable.map { Key($0, .autoRenewableSubscription) })
        keys.formUnion(ofEverything.flatMap { kind in all.map { Key(kind, $0) } })
        keys.formUnion(oneTime.map { Key(.oneTimeCharge, $0) })
        keys.formUnion([.nonConsumable, .autoRenewableSubscription].map { Key(NotificationKind(.revoke), $0) })
        keys.formUnion(ofNothing.map { Key($0, nil) })
        return keys
    }()
}

extension Coverage.Key {
    fileprivate init(_ kind: NotificationKind, _ productType: TransactionType?) {
        self.init(
            notificationType: kind.type.rawValue, subtype: kind.subtype?.rawValue, productType: productType?.rawValue)
    }
}
