import struct Foundation.Date

/// The messages that StoreKit shows a customer in the app until they are read, as far as Apple's facts tell which are due.
///
/// [Message.Reason](https://developer.apple.com/documentation/storekit/message/reason)
public enum StoreKitMessage: String, Sendable, CaseIterable {
    /// The charge failed, and the customer can change the payment method.
    case billingIssue
    /// A price increase waits for the customer's consent.
    case priceIncreaseConsent
    /// The subscription ended, and Apple says which offers the customer may redeem.
    case winBackOffer

    /// The messages that are due for a purchase.
    /// - Parameter state: of the purchase at the moment.
    public static func due(_ subscription: Subscription, _ state: SubscriptionState) -> [StoreKitMessage] {
        guard let renewal = subscription.renewal else { return [] }
        return allCases.filter { message in
            switch message {
            case .billingIssue: state == .billingRetry || state == .gracePeriod
            case .priceIncreaseConsent: state == .active && renewal.priceIncreaseStatus == 0
            case .winBackOffer: state == .expired && !(renewal.eligibleWinBackOfferIds ?? []).isEmpty
            }
        }
    }

    /// What the customer is told, for an operator.
    public var sentence: String {
        switch self {
        case .billingIssue: "the payment failed"
        case .priceIncreaseConsent: "a price increase needs consent"
        case .winBackOffer: "a win-back offer can be redeemed"
        }
    }
}
