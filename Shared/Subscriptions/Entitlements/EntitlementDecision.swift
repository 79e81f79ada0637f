import struct Foundation.Date

/// The entitlement that one purchase gives a customer, and why it gives access or none.
public struct EntitlementDecision: Sendable, Equatable {
    /// Of the purchase that decided.
    public var key: SubscriptionKey
    /// The app's bundle identifier.
    public var bundleId: String
    /// The product that it gives access to, or gave last; nil where no transaction and no renewal info names a product.
    public var productId: String?
    /// The transaction that decided; the current one where Apple's status alone did. Nil where none is known.
    public var transaction: TransactionFacts?
    /// The configured service level of the product, 1 the highest; nil where none is configured.
    public var level: Int?
    /// The end of access by the facts known now. Nil where access has no end, and where there is no access.
    public var until: Date?
    /// Whether it gives access, or why not.
    public var status: EntitlementStatus
    /// Whether access has no end only because the duration of a non-renewing product was never configured.
    public var isDurationUnknown: Bool

    package init(
        key: SubscriptionKey, bundleId: String, productId: String?, transaction: TransactionFacts?, level: Int?,
        until: Date?, status: EntitlementStatus, isDurationUnknown: Bool = false
    ) {
        self.key = key
        self.bundleId = bundleId
        self.productId = productId
        self.transaction = transaction
        self.level = level
        self.until = until
        self.status = status
        self.isDurationUnknown = isDurationUnknown
    }

    /// Whether a member of the family bought it.
    public var isFamilyShared: Bool { transaction?.isFamilyShared ?? false }
}

extension EntitlementDecision {
    /// The purchases that compete with each other: of one environment, one app, and one subscription group or product.
    struct Scope: Hashable {
        var environment: String
        var bundleId: String
        var kind: ProductKind
        var name: String
    }

    /// Nil where a purchase competes with no other: a subscription without a group.
    var scope: Scope? {
        guard let transaction, let kind = transaction.kind else { return nil }
        let name = kind == .autoRenewable ? transaction.subscriptionGroupIdentifier : transaction.productId
        return name.map { name in
            Scope(environment: key.environment.rawValue, bundleId: bundleId, kind: kind, name: name)
        }
    }

    /// Whether only one of two purchases of one scope counts. Without levels the better of two products of a group is unknown,
    /// and both count.
    func competes(with other: EntitlementDecision) -> Bool {
        scope == other.scope && (productId == other.productId || (level != nil && other.level != nil))
    }

    /// Whether it wins over another one of the same scope.
    func isBetter(than other: EntitlementDecision) -> Bool {
        guard let mine = transaction, let others = other.transaction else { return transaction != nil }
        let early = BillingRules.earlyRenewal(in: key.environment)
        switch mine.kind {
        case .autoRenewable:
            let (level, otherLevel) = (level ?? .max, other.level ?? .max)
            if level != otherLevel { return level < otherLevel }
            if isFamilyShared != other.isFamilyShared { return !isFamilyShared }
            if until != other.until { return (until ?? .forever) > (other.until ?? .forever) }
        case .nonRenewing:
            if mine.purchaseDate != other.transaction?.purchaseDate {
                return others.isEarlierPurchase(than: mine, early: early)
            }
            if isFamilyShared != other.isFamilyShared { return !isFamilyShared }
        default:
            if isFamilyShared != other.isFamilyShared { return !isFamilyShared }
        }
        if others.isEarlierPurchase(than: mine, early: early) { return true }
        if mine.isEarlierPurchase(than: others, early: early) { return false }
        return key > other.key
    }
}
