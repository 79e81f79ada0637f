/// The endpoints of the App Store Server API, of retention messaging, of the External Purchase Server API and of the Advanced Commerce API.
enum Endpoint: String, Sendable, CaseIterable {
    case massExtendRenewalDate
    case massExtensionStatus
    case extendRenewalDate
    case subscriptionStatuses
    case refundHistory
    case transactionHistory
    case transactionHistoryWithoutFinishedConsumables
    case appTransactionInfo
    case finishTransaction
    case setAppAccountToken
    case transactionInfo
    case sendConsumption
    case sendConsumptionVersion1
    case lookUpOrder
    case requestTestNotification
    case testNotificationStatus
    case notificationHistory
    case sendExternalPurchaseReport
    case externalPurchaseReport
    case uploadRetentionImage
    case deleteRetentionImage
    case retentionImages
    case uploadRetentionMessage
    case deleteRetentionMessage
    case retentionMessages
    case setDefaultRetentionMessage
    case deleteDefaultRetentionMessage
    case defaultRetentionMessage
    case setRealtimeURL
    case deleteRealtimeURL
    case realtimeURL
    case startPerformanceTest
    case performanceTest
    case cancelSubscription
    case revokeSubscription
    case changeSubscriptionPrice
    case changeSubscriptionMetadata
    case migrateSubscription
    case requestRefund

    /// A star is one component of the path. The first match counts.
    private static let routes: [(Endpoint, method: String, path: [Substring])] = table.map { endpoint, method, path in
        (endpoint, method, path.split(separator: "/"))
    }

    private static let table: [(Endpoint, String, String)] = [
        (.massExtendRenewalDate, "POST", "/inApps/v1/subscriptions/extend/mass"),
        (.massExtensionStatus, "GET", "/inApps/v1/subscriptions/extend/mass/*/*"),
        (.extendRenewalDate, "PUT", "/inApps/v1/subscriptions/extend/*"),
        (.subscriptionStatuses, "GET", "/inApps/v1/subscriptions/*"),
        (.refundHistory, "GET", "/inApps/v2/refund/lookup/*"),
        (.transactionHistory, "GET", "/inApps/v2/history/*"),
        (.transactionHistoryWithoutFinishedConsumables, "GET", "/inApps/v1/history/*"),
        (.appTransactionInfo, "GET", "/inApps/v1/transactions/appTransactions/*"),
        (.finishTransaction, "POST", "/inApps/v1/transactions/*/finish"),
        (.setAppAccountToken, "PUT", "/inApps/v1/transactions/*/appAccountToken"),
        (.transactionInfo, "GET", "/inApps/v1/transactions/*"),
        (.sendConsumption, "PUT", "/inApps/v2/transactions/consumption/*"),
        (.sendConsumptionVersion1, "PUT", "/inApps/v1/transactions/consumption/*"),
        (.lookUpOrder, "GET", "/inApps/v1/lookup/*"),
        (.requestTestNotification, "POST", "/inApps/v1/notifications/test"),
        (.testNotificationStatus, "GET", "/inApps/v1/notifications/test/*"),
        (.notificationHistory, "POST", "/inApps/v1/notifications/history"),
        (.sendExternalPurchaseReport, "PUT", "/externalPurchase/v1/reports"),
        (.externalPurchaseReport, "GET", "/externalPurchase/v1/reports/*"),
        (.uploadRetentionImage, "PUT", "/inApps/v1/messaging/image/*"),
        (.deleteRetentionImage, "DELETE", "/inApps/v1/messaging/image/*"),
        (.retentionImages, "GET", "/inApps/v1/messaging/image/list"),
        (.uploadRetentionMessage, "PUT", "/inApps/v1/messaging/message/*"),
        (.deleteRetentionMessage, "DELETE", "/inApps/v1/messaging/message/*"),
        (.retentionMessages, "GET", "/inApps/v1/messaging/message/list"),
        (.setDefaultRetentionMessage, "PUT", "/inApps/v1/messaging/default/*/*"),
        (.deleteDefaultRetentionMessage, "DELETE", "/inApps/v1/messaging/default/*/*"),
        (.defaultRetentionMessage, "GET", "/inApps/v1/messaging/default/*/*"),
        (.setRealtimeURL, "PUT", "/inApps/v1/messaging/realtime/url"),
        (.deleteRealtimeURL, "DELETE", "/inApps/v1/messaging/realtime/url"),
        (.realtimeURL, "GET", "/inApps/v1/messaging/realtime/url"),
        (.startPerformanceTest, "POST", "/inApps/v1/messaging/performanceTest"),
        (.performanceTest, "GET", "/inApps/v1/messaging/performanceTest/result/*"),
        (.cancelSubscription, "POST", "/advancedCommerce/v1/subscription/cancel/*"),
        (.revokeSubscription, "POST", "/advancedCommerce/v1/subscription/revoke/*"),
        (.changeSubscriptionPrice, "POST", "/advancedCommerce/v1/subscription/changePrice/*"),
        (.changeSubscriptionMetadata, "POST", "/advancedCommerce/v1/subscription/changeMetadata/*"),
        (.migrateSubscription, "POST", "/advancedCommerce/v1/subscription/migrate/*"),
        (.requestRefund, "POST", "/advancedCommerce/v1/transaction/requestRefund/*"),
    ]

    /// - Parameter path: its components.
    /// - Returns: nil for an unknown path; else with the components in the places of the stars.
    static func find(method: String, path: [String]) -> (Endpoint, arguments: [String])? {
        for (endpoint, wanted, pattern) in routes where wanted == method && pattern.count == path.count {
            let pairs = zip(pattern, path)
            guard pairs.allSatisfy({ $0 == "*" || $0 == $1 }) else { continue }
            return (endpoint, pairs.filter { $0.0 == "*" }.map(\.1))
        }
        return nil
    }

    /// Apple's limit in production.
    var requestsPerSecond: Double {
        switch self {
        case .transactionInfo, .transactionHistory, .transactionHistoryWithoutFinishedConsumables,
            .subscriptionStatuses, .appTransactionInfo, .finishTransaction, .sendConsumption,
            .sendConsumptionVersion1, .notificationHistory:
            50
        case .changeSubscriptionPrice, .changeSubscriptionMetadata, .migrateSubscription: 50
        case .cancelSubscription, .revokeSubscription, .requestRefund: 5
        case .extendRenewalDate, .setAppAccountToken: 20
        case .lookUpOrder, .refundHistory, .setDefaultRetentionMessage: 10
        case .massExtendRenewalDate, .massExtensionStatus, .requestTestNotification, .testNotificationStatus,
            .sendExternalPurchaseReport, .externalPurchaseReport, .uploadRetentionImage, .deleteRetentionImage,
            .retentionImages, .uploadRetentionMessage, .deleteRetentionMessage, .retentionMessages,
            .deleteDefaultRetentionMessage, .defaultRetentionMessage, .setRealtimeURL, .deleteRealtimeURL, .realtimeURL,
            .startPerformanceTest, .performanceTest:
            1
        }
    }
}
