/// One fact of a purchase that changed, for the timeline.
public struct Change: Sendable, Equatable {
    /// The fact that changed.
    public var fact: Fact
    /// The value before; nil where it was unknown. Dates are ISO 8601 in UTC with milliseconds; flags `true` and `false`.
    public var from: String?
    /// The value after, written like ``from``; nil where it is unknown now.
    public var to: String?

    package init(fact: Fact, from: String?, to: String?) {
        self.fact = fact
        self.from = from
        self.to = to
    }
}

/// The facts whose changes the timeline shows, by the names Apple gives them.
public enum Fact: String, Sendable, CaseIterable {
    case status
    case transactionId
    case productId
    case purchaseDate
    case expiresDate
    case inAppOwnershipType
    case isUpgraded
    case appAccountToken
    case offerIdentifier
    case revocationDate
    case revocationReason
    case autoRenewStatus
    case autoRenewProductId
    case isInBillingRetryPeriod
    case gracePeriodExpiresDate
    case expirationIntent
    case priceIncreaseStatus
    case revocationType
    case renewalProductId
    case renewalPrice
    case billingPeriodNumber
    case commitmentExpiresDate
    case commitmentAutoRenewStatus
}

extension Change {
    /// The facts that differ between two states of one subscription, in the order of ``Fact``.
    static func between(_ old: Subscription?, _ new: Subscription) -> [Change] {
        Fact.allCases.compactMap { fact in
            let from = old.flatMap { fact.text(in: $0) }
            let to = fact.text(in: new)
            return from == to ? nil : Change(fact: fact, from: from, to: to)
        }
    }
}

extension Fact {
    /// The value of the fact as the timeline writes it; nil where it is unknown.
    public func text(in subscription: Subscription) -> String? {
        let transaction = subscription.transaction
        let renewal = subscription.renewal
        let commitment = isOfCommitment ? Commitment(transaction: transaction, renewal: renewal) : nil
        return switch self {
        case .status: subscription.status.map { String($0) }
        case .transactionId: transaction?.transactionId
        case .productId: transaction?.productId
        case .purchaseDate: transaction?.purchaseDate.map(\.iso8601)
        case .expiresDate: transaction?.expiresDate.map(\.iso8601)
        case .inAppOwnershipType: transaction?.ownership
        case .isUpgraded: transaction.map { String($0.isUpgraded) }
        case .appAccountToken: transaction?.appAccountToken
        case .offerIdentifier: transaction?.offerIdentifier
        case .revocationDate: transaction?.revocationDate.map(\.iso8601)
        case .revocationReason: transaction?.revocationReason.map { String($0) }
        case .autoRenewStatus: renewal?.autoRenewStatus.map { String($0) }
        case .autoRenewProductId: renewal?.autoRenewProductId
        case .isInBillingRetryPeriod: renewal?.isInBillingRetry.map { String($0) }
        case .gracePeriodExpiresDate: renewal?.gracePeriodExpiresDate.map(\.iso8601)
        case .expirationIntent: renewal?.expirationIntent.map { String($0) }
        case .priceIncreaseStatus: renewal?.priceIncreaseStatus.map { String($0) }
        case .revocationType: transaction?.revocationType
        case .renewalProductId: renewal?.productId
        case .renewalPrice: renewal?.renewalPriceMilliunits.map { String($0) }
        case .billingPeriodNumber: commitment?.billingPeriodNumber.map { String($0) }
        case .commitmentExpiresDate: commitment?.expiresDate.map(\.iso8601)
        case .commitmentAutoRenewStatus: commitment?.autoRenewStatus.map { String($0) }
        }
    }

    private var isOfCommitment: Bool {
        switch self {
        case .billingPeriodNumber, .commitmentExpiresDate, .commitmentAutoRenewStatus: true
        default: false
        }
    }
}
