import Contracts

import struct Foundation.Date

/// A contradiction in a payload that Apple signed, or something in it that this release cannot explain.
///
/// Anomalies are recorded and shown to operators. The payload counts all the same; each case says how.
public enum Anomaly: String, Sendable, Hashable, CaseIterable {
    /// The period ends before or when it begins: it gives no access.
    case expiryBeforePurchase
    /// `revocationDate` is more than a day before `purchaseDate`: the transaction counts as revoked.
    case revocationBeforePurchase
    /// A date outside of the years 2000 to 2199: it is used as it is.
    case implausibleDate
    /// A price below zero: kept, and not counted as paid service.
    case negativePrice
    /// A quantity of zero or less: counts as one purchase.
    case quantityBelowOne
    /// The renewal info names another product than the transaction: it grants no grace period and its billing retry is
    /// ignored.
    case renewalOfOtherProduct
    /// The renewal info names another purchase: all of it is ignored.
    case renewalOfOtherPurchase
    /// Status 4 without `gracePeriodExpiresDate`: counts as billing retry, without access.
    case graceWithoutEnd
    /// Refunded or revoked by type or status, but the transaction has no `revocationDate`: revoked by status only. A refund of some items of
    /// Advanced Commerce has none, because the others stay.
    case revocationWithoutDate
    /// A reversed refund whose transaction is still revoked: stays revoked.
    case reversalWithRevocation
    /// Expired or in billing retry, by type or status, more than a day before `expiresDate`: what was paid for counts until its
    /// end, and recovery asks Apple.
    case expiredBeforeEnd
    /// An auto-renewable subscription without `expiresDate`: gives no access.
    case subscriptionWithoutEnd
    /// A pair of type and subtype that this build does not know: its facts count like any others.
    case unknownEvent
    /// A field of an enumeration holds a value that this build does not know, or the type of the product is unknown: the
    /// value counts as missing where a rule needs it. ``PurchaseEvent/unknownFields`` lists the fields.
    case unknownValue
    /// A field that does not affect access holds another kind of value than Apple documents: it counts as missing.
    /// ``PurchaseEvent/unreadableFields`` lists the fields.
    case unreadableField
    /// Notifications of several apps name one purchase: the facts of all of them count, and the purchase belongs to the
    /// app of the oldest one. Only ``all(in:)`` finds it, because no single event shows it.
    case otherApp

    /// One English sentence for an operator: what is wrong, and how it counts.
    public var sentence: String {
        switch self {
        case .expiryBeforePurchase: "The period ends before it begins; it gives no access."
        case .revocationBeforePurchase: "The revocation date is before the purchase; the transaction counts as revoked."
        case .implausibleDate: "A date is outside of the years 2000 to 2199; it is used as it is."
        case .negativePrice: "The price is below zero; the period does not count as paid."
        case .quantityBelowOne: "The quantity is below one; it counts as one purchase."
        case .renewalOfOtherProduct:
            "The renewal info names another product than the transaction; it grants no grace period."
        case .renewalOfOtherPurchase: "The renewal info names another purchase; it is ignored."
        case .graceWithoutEnd:
            "The status is grace period without an end date; it counts as billing retry, without access."
        case .revocationWithoutDate: "The purchase was refunded or revoked, but the transaction has no revocation date."
        case .reversalWithRevocation: "The refund was reversed, but the transaction is still revoked; it stays revoked."
        case .expiredBeforeEnd: "The subscription expired more than a day before its end; it counts as paid until then."
        case .subscriptionWithoutEnd: "An auto-renewable subscription has no end; it gives no access."
        case .unknownEvent: "This version does not know the notification's type; its transaction and status count."
        case .unknownValue: "This version does not know the value of a field; the value counts as missing."
        case .unreadableField: "A field is not of the type that Apple documents; it counts as missing."
        case .otherApp:
            "Notifications of several apps name this purchase; all of them count, and it belongs to the first app."
        }
    }
}

extension Anomaly {
    /// The anomalies in the events of one purchase, in the order of ``Anomaly``.
    /// - Parameter events: in any order, with any repetitions.
    public static func all(in events: some Sequence<PurchaseEvent>) -> [Anomaly] {
        var found: Set<Anomaly> = []
        var apps: Set<String> = []
        for event in events {
            found.formUnion(event.anomalies)
            apps.insert(event.bundleId)
        }
        if apps.count > 1 { found.insert(.otherApp) }
        return allCases.filter(found.contains)
    }
}

extension PurchaseEvent {
    /// The anomalies in this event, in the order of ``Anomaly``.
    public var anomalies: [Anomaly] { Anomaly.allCases.filter(has) }

    private func has(_ anomaly: Anomaly) -> Bool {
        switch anomaly {
        case .expiryBeforePurchase: transaction.map { $0.expiresDate != nil && !$0.hasPeriod } ?? false
        case .revocationBeforePurchase: isRevokedBeforePurchase
        case .implausibleDate: dates.contains { !$0.isPlausible }
        case .negativePrice:
            (transaction?.priceMilliunits ?? 0) < 0 || (renewal?.renewalPriceMilliunits ?? 0) < 0
        case .quantityBelowOne: (transaction?.quantity ?? 1) < 1
        case .renewalOfOtherProduct: isRenewalOfOtherProduct
        case .renewalOfOtherPurchase: renewal != nil && applicableRenewal == nil
        // A transaction signed by itself may arrive without the renewal info that holds the end.
        case .graceWithoutEnd: part == nil && status == 4 && applicableRenewal?.gracePeriodExpiresDate == nil
        case .revocationWithoutDate: isRevocation && transaction?.revocationDate == nil && !isRefundOfSomeItems
        case .reversalWithRevocation: eventType == .refundReversed && transaction?.revocationDate != nil
        case .expiredBeforeEnd: isExpiredBeforeEnd
        case .subscriptionWithoutEnd:
            transaction?.kind == .autoRenewable && transaction?.expiresDate == nil
        case .unknownEvent: eventType == nil && part == nil
        case .unknownValue: !unknownFields.isEmpty || transaction.map { $0.kind == nil } ?? false
        case .unreadableField: !unreadableFields.isEmpty
        case .otherApp: false
        }
    }

    private var dates: [Date] {
        [
            version.signedDate, transaction?.purchaseDate, transaction?.originalPurchaseDate, transaction?.expiresDate,
            transaction?.revocationDate, transaction?.signedDate, renewal?.gracePeriodExpiresDate,
            renewal?.recentSubscriptionStartDate, renewal?.renewalDate, renewal?.signedDate,
        ].compactMap(\.self)
    }

    /// A period may be charged for a day before it begins, and refunded at once.
    private var isRevokedBeforePurchase: Bool {
        guard let revoked = transaction?.revocationDate, let bought = transaction?.purchaseDate else { return false }
        return revoked < bought.addingTimeInterval(-BillingRules.earlyRenewal(in: .production))
    }

    /// Apple's renewal info and status are of the newest transaction; a notification about a refund may hold an older one,
    /// of the product that the customer had before an upgrade.
    var mayHoldOlderTransaction: Bool {
        switch eventType {
        case .refunded, .refundReversed, .refundDeclined, .consumptionRequested, .familyAccessRevoked: true
        default: false
        }
    }

    private var isRenewalOfOtherProduct: Bool {
        guard let renewed = applicableRenewal?.productId, let bought = transaction?.productId else { return false }
        return renewed != bought && !mayHoldOlderTransaction && transaction?.revocationDate == nil
    }

    private var isRevocation: Bool {
        eventType == .refunded || eventType == .familyAccessRevoked || (status == 5 && !mayHoldOlderTransaction)
    }

    private var isRefundOfSomeItems: Bool { isRefundOfItems && status != 5 }

    private var isExpiredBeforeEnd: Bool {
        guard eventType?.isEnd == true || ((status == 2 || status == 3) && !mayHoldOlderTransaction), let transaction,
            transaction.hasPeriod
        else { return false }
        guard let end = transaction.expiresDate, transaction.revocationDate == nil, !isPaidAhead else { return false }
        return end.timeIntervalSince(version.signedDate) > BillingRules.day
    }
}
