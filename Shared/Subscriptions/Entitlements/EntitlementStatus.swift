/// What becomes of one purchase when a customer's entitlements are computed.
public enum EntitlementStatus: String, Sendable, Hashable, CaseIterable {
    /// A subscription whose period runs, and of its group the best.
    case active
    /// A subscription whose charge failed, with access until the grace ends, and of its group the best.
    case gracePeriod
    /// A non-consumable.
    case owned
    /// The latest purchase of a non-renewing subscription. Without an end of its own the app decides when it ends.
    case nonRenewing
    /// The latest purchase of a non-renewing subscription, which has ended: listed, as StoreKit lists it, without
    /// access.
    case nonRenewingEnded

    /// It would give access, but the customer has a better one of the same group.
    case outranked
    /// Another purchase of the same product counts: a later one, or one that the family did not share.
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

    /// Whether the customer may use what was bought.
    public var givesAccess: Bool { isEntitlement && self != .nonRenewingEnded }
}
