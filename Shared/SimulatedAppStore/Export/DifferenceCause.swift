/// Why what another system says of a customer's access can differ from what Apple says.
///
/// The names are those of `storekeeper compare`.
enum DifferenceCause: String, Sendable, CaseIterable {
    /// The other system ends access with the paid period.
    case gracePeriod
    /// The other system gives access while Apple tries to collect.
    case billingRetry
    /// The other system gives no access to family members.
    case familySharing
    /// Access that the other system's operators gave.
    case grantByHand
    /// The other system does not know of a refund.
    case refundInFull
    case refundProrated
    /// The other system does not know that a refund was reversed.
    case refundReversed
    /// The other system still has the product that a better one replaced.
    case upgrade
    /// The other system has the purchase for a second customer.
    case otherOwner
    /// The other system ends a non-renewing subscription after a duration of its own.
    case nonRenewingDuration
    /// The other system ends access a few minutes later.
    case endWithinFiveMinutes
    /// A purchase of another store.
    case otherStore
    /// A purchase of the sandbox, which gives access in production there.
    case sandbox
    /// Apple has no such purchase.
    case unknownToApple
    /// The other system is wrong without a reason.
    case unexplained
}
