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
    /// Uploads an image for retention messages.
    case retentionImageUpload = "retention-image-upload"
    /// Deletes one.
    case retentionImageDeletion = "retention-image-deletion"
    /// All of them.
    case retentionImages = "retention-images"
    /// Uploads a retention message.
    case retentionMessageUpload = "retention-message-upload"
    /// Deletes one.
    case retentionMessageDeletion = "retention-message-deletion"
    /// All of them.
    case retentionMessages = "retention-messages"
    /// Sets the retention message of a product and language.
    case retentionDefault = "retention-default"
    /// Takes it back.
    case retentionDefaultDeletion = "retention-default-deletion"
    /// Which it is.
    case retentionDefaultLookup = "retention-default-lookup"
    /// Sets the address that Apple asks for a retention message.
    case realtimeURL = "realtime-url"
    /// Takes it back.
    case realtimeURLDeletion = "realtime-url-deletion"
    /// Which it is.
    case realtimeURLLookup = "realtime-url-lookup"
    /// Lets Apple try the address.
    case performanceTest = "performance-test"
    /// What came of it.
    case performanceTestResult = "performance-test-result"
    /// Cancels a subscription of Advanced Commerce.
    case commerceCancellation = "commerce-cancellation"
    /// Ends one at once, with a refund.
    case commerceRevocation = "commerce-revocation"
    /// Changes the price of one.
    case commercePriceChange = "commerce-price-change"
    /// Changes names, descriptions and SKUs of one.
    case commerceMetadataChange = "commerce-metadata-change"
    /// Makes a subscription of In-App Purchase one of Advanced Commerce.
    case commerceMigration = "commerce-migration"
    /// Requests a refund of items of Advanced Commerce.
    case commerceRefund = "commerce-refund"

    /// Apple's limit in production, for each app; in sandbox it is a tenth.
    ///
    /// Apple names no limit for the status of a mass extension, which is held to that of the extension itself, and none for reports of
    /// external purchases, which are as rare.
    ///
    /// <https://developer.apple.com/documentation/appstoreserverapi/identifying-rate-limits>,
    /// <https://developer.apple.com/documentation/retentionmessaging/identifying-rate-limits>,
    /// <https://developer.apple.com/documentation/advancedcommerceapi/ratelimits>
    public var requestsPerSecond: Double {
        switch self {
        case .transactionInfo, .transactionHistory, .subscriptionStatuses, .appTransactionInfo, .finishTransaction,
            .consumption, .notificationHistory, .commercePriceChange, .commerceMetadataChange, .commerceMigration:
            50
        case .extendRenewalDate, .setAppAccountToken: 20
        case .orderLookup, .refundHistory, .retentionDefault: 10
        case .commerceCancellation, .commerceRevocation, .commerceRefund: 5
        case .massExtension, .massExtensionStatus, .testNotification, .testNotificationStatus, .externalPurchaseReport,
            .externalPurchaseReportLookup, .retentionImageUpload, .retentionImageDeletion, .retentionImages,
            .retentionMessageUpload, .retentionMessageDeletion, .retentionMessages, .retentionDefaultDeletion,
            .retentionDefaultLookup, .realtimeURL, .realtimeURLDeletion, .realtimeURLLookup, .performanceTest,
            .performanceTestResult:
            1
        }
    }

    /// Whether a call may be sent again when it is not known whether the first was carried out.
    ///
    /// Reading changes nothing; account token, consumption and finishing say what shall be, so saying it twice changes
    /// nothing more; a second test notification does no harm. Extensions add days each time, and Apple does not promise
    /// that it knows a `requestIdentifier` again. A report that arrived, a request of Advanced Commerce, which may be a refund,
    /// an upload, a deletion and a test of performance are rejected the second time: the answer would hide that the first was carried
    /// out.
    public var isRepeatable: Bool { !Self.unrepeatable.contains(self) }

    private static let unrepeatable: Set<APIEndpoint> = [
        .extendRenewalDate, .massExtension, .externalPurchaseReport, .commerceCancellation, .commerceRevocation,
        .commercePriceChange, .commerceMetadataChange, .commerceMigration, .commerceRefund, .retentionImageUpload,
        .retentionImageDeletion, .retentionMessageUpload, .retentionMessageDeletion, .retentionDefaultDeletion,
        .realtimeURLDeletion, .performanceTest,
    ]
}
