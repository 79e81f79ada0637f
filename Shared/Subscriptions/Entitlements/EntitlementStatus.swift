/// Whether one purchase is among a customer's entitlements, and why or why not.
public enum EntitlementStatus: String, Sendable, Hashable, CaseIterable {
    /// A subscription in a paid period, and the best of its group.
    case active
    /// A subscription whose charge failed, with access until the grace period ends, and the best of its group.
    case gracePeriod
    /// A non-consumable.
    case owned
    /// The latest purchase of a non-renewing subscription. Without a configured duration the app decides when it ends.
    case nonRenewing
    /// The latest purchase of a non-renewing subscription, which has ended: listed, as StoreKit lists it, without
    /// access.
    case nonRenewingEnded

    /// The customer has a better subscription of the same group, which counts instead.
    case outranked
    /// Another purchase of the same product counts instead: a later one, or one that is not family shared.
    case superseded
    case expired
    case billingRetry
    case overdue
    case revoked
    case upgraded
    case consumed
    case unknown

    /// Whether it is listed among the customer's entitlements.
    public var isEntitlement: Bool {
        switch self {
        case .active, .gracePeriod, .owned, .nonRenewing, .nonRenewingEnded: true
        case .outranked, .superseded, .expired, .billingRetry, .overdue, .revoked, .upgraded, .consumed, .unknown:
            false
        }
    }

    /// Whether the customer may use the product.
    public var givesAccess: Bool { isEntitlement && self != .nonRenewingEnded }
}
