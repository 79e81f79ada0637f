extension APIErrorCode {
    /// What to do about it, where that is more than correcting what the message names.
    var advice: String? {
        switch self {
        case .invalidAppIdentifier, .appNotFound:
            "check that the bundle id is this app's and that the key belongs to the account of the app"
        case .invalidTransactionId, .invalidOriginalTransactionId, .originalTransactionIdNotFound,
            .transactionIdNotFound, .accountNotFound:
            "check the id, and whether it is of the other environment: sandbox and production do not share them"
        case .startDateTooFarInPast:
            "notifications are kept for 180 days, in sandbox 30; ask for the transaction history of each customer beyond"
        case .startDateAfterEndDate: "the window has to begin before it ends"
        case .invalidPaginationToken, .invalidRequestRevision:
            "repeat exactly the query that the position came from, or restart it without one"
        case .paginationTokenExpired: "restart the query without the token"
        case .invalidNotificationType: "give an existing type, and a subtype only with a type that has it"
        case .multipleFiltersSupplied: "give the type or the transaction, not both"
        case .invalidCustomerConsented: "send consumption information only of customers who consented"
        case .subscriptionMaxExtension: "a subscription can be extended twice within 365 days; wait"
        case .subscriptionExtensionIneligible: "only active subscriptions outside of billing retry can be extended"
        case .familySharedSubscriptionExtensionIneligible: "extend the subscription of the member who bought it"
        case .serverNotificationURLNotFound:
            "enter the address of this service for this environment in App Store Connect"
        case .testNotificationNotFound: "ask again in some seconds; a token is good for six months"
        case .statusRequestNotFound: "check product and request identifier; a mass extension is kept under both"
        case .transactionIdNotOriginalTransactionId: "use the original transaction id of the subscription"
        case .rateLimitExceeded: "wait; other programs with keys of this app share the limit"
        default: nil
        }
    }
}
