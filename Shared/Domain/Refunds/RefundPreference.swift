/// What the developer would like Apple to decide.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/refundpreference>
package enum RefundPreference: String, Sendable, CaseIterable {
    case decline = "DECLINE"
    case grantFull = "GRANT_FULL"
    case grantProrated = "GRANT_PRORATED"

    /// The value in the older endpoint, which has no prorated refund: 1 grant, 2 decline.
    package var version1: Int64 { self == .decline ? 2 : 1 }
}

/// Whether the customer got what was bought.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/deliverystatus>
package enum DeliveryStatus: String, Sendable, CaseIterable {
    case delivered = "DELIVERED"
    case qualityIssue = "UNDELIVERED_QUALITY_ISSUE"
    case wrongItem = "UNDELIVERED_WRONG_ITEM"
    case serverOutage = "UNDELIVERED_SERVER_OUTAGE"
    case other = "UNDELIVERED_OTHER"

    /// The value in the older endpoint.
    package var version1: Int64 {
        switch self {
        case .delivered: 0
        case .qualityIssue: 1
        case .wrongItem: 2
        case .serverOutage: 3
        case .other: 5
        }
    }
}

/// Why a customer asks for a refund, where the customer named a reason.
///
/// <https://developer.apple.com/documentation/appstoreservernotifications/consumptionrequestreason>
package enum RefundReason: String, Sendable, CaseIterable {
    case unintendedPurchase = "UNINTENDED_PURCHASE"
    case fulfillmentIssue = "FULFILLMENT_ISSUE"
    case unsatisfiedWithPurchase = "UNSATISFIED_WITH_PURCHASE"
    case legal = "LEGAL"
    case other = "OTHER"
}
