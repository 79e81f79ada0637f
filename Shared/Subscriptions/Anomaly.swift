import Contracts

import struct Foundation.Date

/// What contradicts itself in what Apple signed. Recorded and shown; nothing is dropped on account of it but where
/// said.
public enum Anomaly: String, Sendable, Hashable, CaseIterable {
    /// The period ends before or when it begins: it gives no access.
    case expiryBeforePurchase
    /// Taken back more than a day before it was bought: it is revoked all the same.
    case revocationBeforePurchase
    /// A date outside of the years 2000 to 2199: believed as it stands.
    case implausibleDate
    /// A price below zero: kept, and not counted as paid service.
    case negativePrice
    /// A quantity of zero or less: counts as one purchase.
    case quantityBelowOne
    /// The renewal info speaks of another product than the transaction: it neither grants grace nor tells of billing
    /// retry.
    case renewalOfOtherProduct
    /// The renewal info names another purchase: it is not believed at all.
    case renewalOfOtherPurchase
    /// In grace, without an end of it: counts as billing retry, without access.
    case graceWithoutEnd
    /// Refunded or revoked by name or status, yet the transaction has no date of it: revoked by status only.
    case revocationWithoutDate
    /// A reversed refund whose transaction is still revoked: stays revoked.
    case reversalWithRevocation
    /// Expired by name or status more than a day before its end: expired.
    case expiredBeforeEnd
    /// An auto-renewable subscription that never ends: gives no access.
    case subscriptionWithoutEnd
    /// A pair of type and subtype that this build does not know: its facts count like any others.
    case unknownEvent
    /// A field of an enumeration holds a value that this build does not know, or the transaction is of no kind that it
    /// knows: what needs the value counts as not told. Which fields, ``PurchaseEvent/unknownFields`` says.
    case unknownValue
    /// A field that decides nothing holds another kind of value than Apple documents: it counts as missing. Which fields,
    /// ``PurchaseEvent/unreadableFields`` says.
    case unreadableField
    /// Several apps spoke of one purchase: the facts count whoever told them, and the purchase stays with the app that
    /// spoke first. See ``all(in:)``; no single event has it.
    case otherApp

    /// One sentence for an operator.
    public var sentence: String {
        switch self {
        case .expiryBeforePurchase: "The period ends before it begins; it gives no access."
        case .revocationBeforePurchase: "It was taken back before it was bought; it counts as revoked."
        case .implausibleDate: "A date lies outside of the years 2000 to 2199; it is believed as it stands."
        case .negativePrice: "The price is below zero; the period does not count as paid."
        case .quantityBelowOne: "The quantity is below one; it counts as one purchase."
        case .renewalOfOtherProduct:
            "The renewal info speaks of another product than the transaction; it grants no grace."
        case .renewalOfOtherPurchase: "The renewal info names another purchase; it is not believed."
        case .graceWithoutEnd: "It is in grace without an end of it; it counts as billing retry, without access."
        case .revocationWithoutDate: "It was taken back, yet the transaction does not say when."
        case .reversalWithRevocation: "The refund was reversed, yet the transaction is still revoked; it stays revoked."
        case .expiredBeforeEnd: "It expired more than a day before its end; it counts as expired."
        case .subscriptionWithoutEnd: "An auto-renewable subscription has no end; it gives no access."
        case .unknownEvent: "Apple sent a kind of notification that this version does not know; its facts count."
        case .unknownValue:
            "A field holds a value that this version does not know; what depends on it counts as not told."
        case .unreadableField: "A field is not of the kind that Apple documents; it counts as missing."
        case .otherApp:
            "Several apps spoke of this purchase; the facts count whoever told them, and it stays with the first."
        }
    }
}

extension Anomaly {
    /// What contradicts itself in the events of one purchase, in the order of ``Anomaly``.
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
    /// What contradicts itself in this event, in the order of ``Anomaly``.
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
        case .renewalOfOtherPurchase: renewal != nil && believedRenewal == nil
        // A part that stands alone may have come without the renewal info that tells the end.
        case .graceWithoutEnd: part == nil && status == 4 && believedRenewal?.gracePeriodExpiresDate == nil
        case .revocationWithoutDate: isRevocation && transaction?.revocationDate == nil
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

    /// Apple's renewal info and status are of the newest transaction; what is about money taken back may hold an older one,
    /// of what the customer had before an upgrade.
    private var mayHoldOlderTransaction: Bool {
        switch eventType {
        case .refunded, .refundReversed, .refundDeclined, .consumptionRequested, .familyAccessRevoked: true
        default: false
        }
    }

    private var isRenewalOfOtherProduct: Bool {
        guard let renewed = believedRenewal?.productId, let bought = transaction?.productId else { return false }
        return renewed != bought && !mayHoldOlderTransaction && transaction?.revocationDate == nil
    }

    private var isRevocation: Bool {
        eventType == .refunded || eventType == .familyAccessRevoked || (status == 5 && !mayHoldOlderTransaction)
    }

    private var isExpiredBeforeEnd: Bool {
        guard eventType?.isEnd == true || (status == 2 && !mayHoldOlderTransaction), let transaction,
            transaction.hasPeriod
        else { return false }
        guard let end = transaction.expiresDate, transaction.revocationDate == nil else { return false }
        return end.timeIntervalSince(version.signedDate) > 86_400
    }
}

extension Anomaly {
    /// Transaction ids that occur in several environments. They are different purchases and never meet, since the
    /// environment is part of every key; listed because Apple gives no id twice.
    public static func transactionIdsInSeveralEnvironments(
        _ transactions: some Sequence<(environment: StoreEnvironment, transactionId: String)>
    ) -> [String] {
        var seen: [String: Set<StoreEnvironment>] = [:]
        for transaction in transactions { seen[transaction.transactionId, default: []].insert(transaction.environment) }
        return seen.filter { $0.value.count > 1 }.keys.sorted()
    }
}
