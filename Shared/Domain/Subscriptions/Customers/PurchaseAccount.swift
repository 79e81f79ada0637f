/// One of the app's accounts that owns, claims or may use a purchase: whether it may use it, and why. ``AppleAccount`` decides it,
/// from what Apple signed, claims, moves, operators' choices and the app's policy; the table `purchase_account` holds it.
public struct PurchaseAccount: Sendable, Hashable {
    /// Why an account may use a purchase, or may not.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// Apple names the account.
        case owner
        /// Apple names no account, and this one has the strongest claim on the Apple account, of equal ones the first.
        case claim
        /// A restore moved the purchase to the account.
        case moved
        /// An operator chose the account.
        case chosen
        /// The policy lets all accounts of the Apple account use its purchases.
        case shared
        /// Apple names another account.
        case otherOwner
        /// Another account has a stronger or earlier claim.
        case otherClaim
        /// A restore moved the purchase to another account.
        case movedAway
        /// An operator chose another account.
        case notChosen
        /// The policy lets no account use the purchase until an operator chooses one.
        case refused
        /// The account sent an old copy, and another account owns or claims the Apple account's purchases.
        case oldCopy
    }

    /// The purchase.
    public var key: SubscriptionKey
    /// The app's bundle identifier.
    public var bundleId: String
    /// The account, lower-case UUID text.
    public var appAccountToken: String
    /// Whether the account has access while the purchase gives access.
    public var mayUse: Bool
    /// The rule that decided.
    public var because: Reason

    package init(
        key: SubscriptionKey, bundleId: String, appAccountToken: String, mayUse: Bool, because: Reason
    ) {
        self.key = key
        self.bundleId = bundleId
        self.appAccountToken = appAccountToken
        self.mayUse = mayUse
        self.because = because
    }
}
