/// The endpoints with a rate limit of their own; the raw value is their name in logs and metrics.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/identifying-rate-limits>
public enum APIEndpoint: String, Sendable, Hashable, CaseIterable {
    /// One transaction.
    case transactionInfo = "transaction-info"
    /// All transactions of a customer, both versions.
    case transactionHistory = "transaction-history"
    /// The newest of each subscription of a customer.
    case subscriptionStatuses = "subscription-statuses"
    /// The purchase of the app.
    case appTransactionInfo = "app-transaction-info"
    /// Marks a transaction as delivered.
    case finishTransaction = "finish-transaction"
    /// Sends how far a purchase was used.
    case consumption
    /// Apple's notification history.
    case notificationHistory = "notification-history"
    /// Extends one subscription.
    case extendRenewalDate = "extend-renewal-date"
    /// Sets the account of a purchase.
    case setAppAccountToken = "set-app-account-token"
    /// The purchases of an order number.
    case orderLookup = "order-lookup"
    /// The refunds of a customer.
    case refundHistory = "refund-history"
    /// Extends the subscriptions of all customers.
    case massExtension = "mass-extension"
    /// How far that is.
    case massExtensionStatus = "mass-extension-status"
    /// A test notification.
    case testNotification = "test-notification"
    /// What became of it.
    case testNotificationStatus = "test-notification-status"
    /// Reports an external purchase token.
    case externalPurchaseReport = "external-purchase-report"
    /// A report that was sent.
    case externalPurchaseReportLookup = "external-purchase-report-lookup"
    /// Images, messages and their defaults.
    case retentionMessaging = "retention-messaging"
    /// Changes a subscription or requests a refund of Advanced Commerce.
    case advancedCommerce = "advanced-commerce"

    /// Apple's limit in production, for each app; in sandbox it is a tenth.
    ///
    /// Apple names no limit for the status of a mass extension, which is held to that of the extension itself, and none for reports of
    /// external purchases, retention messaging and Advanced Commerce, which are called as rarely.
    public var requestsPerSecond: Double {
        switch self {
        case .transactionInfo, .transactionHistory, .subscriptionStatuses, .appTransactionInfo, .finishTransaction,
            .consumption, .notificationHistory:
            50
        case .extendRenewalDate, .setAppAccountToken: 20
        case .orderLookup, .refundHistory: 10
        case .massExtension, .massExtensionStatus, .testNotification, .testNotificationStatus, .externalPurchaseReport,
            .externalPurchaseReportLookup, .retentionMessaging, .advancedCommerce:
            1
        }
    }

    /// Whether a call may be sent again when it is not known whether the first was carried out.
    ///
    /// Reading changes nothing; account token, consumption and finishing say what shall be, so saying it twice changes
    /// nothing more; a second test notification does no harm. Extensions add days each time, and Apple does not promise
    /// that it knows a `requestIdentifier` again. A report that arrived is rejected as a duplicate the second time, and a refund of
    /// Advanced Commerce is money.
    public var isRepeatable: Bool {
        ![.extendRenewalDate, .massExtension, .externalPurchaseReport, .advancedCommerce].contains(self)
    }
}
