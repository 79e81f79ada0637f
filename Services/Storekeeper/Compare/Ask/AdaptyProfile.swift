import Foundation
import StrictJSON

/// Adapty's answer about a customer, as records of its daily file. Pure.
///
/// Members that are not named here are not read: an answer has the customer's attributes, too. Like the daily file it says nothing of
/// access that was given by hand.
///
/// https://adapty.io/docs/api-adapty/operations/getProfile
struct AdaptyProfile {
    static let columns = [
        "profile_id", "customer_user_id", "event_type", "event_datetime", "original_transaction_id",
        "subscription_expires_at", "environment", "store", "product_id",
    ]

    private(set) var records: [AnsweredRecord] = []
    private let ids: [String: String?]

    init(_ answer: JSONValue, _ customer: String) throws(AnswerFault) {
        guard let profile = answer["data"], profile.kind == .object else {
            throw AnswerFault("the answer has no data")
        }
        ids = ["profile_id": profile["profile_id"]?.string, "customer_user_id": customer]
        let levels = profile["access_levels"]?.elements ?? []
        for subscription in profile["subscriptions"]?.elements ?? [] {
            var end = subscription["expires_at"]?.string
            let isInGrace = subscription["is_in_grace_period"]?.bool == true
            if isInGrace { end = Self.end(of: levels, subscription) }
            let isRefunded = subscription["cancellation_reason"]?.string == "refund"
            var type = end == nil ? "non_subscription_purchase" : "subscription_renewed"
            if isInGrace { type = "entered_grace_period" }
            if isRefunded { type = "subscription_refunded" }
            let purchasedAt = subscription["purchased_at"]?.string
            add(
                subscription, type,
                at: isRefunded ? subscription["renewal_cancelled_at"]?.string ?? purchasedAt : purchasedAt,
                until: end)
        }
        for purchase in profile["non_subscriptions"]?.elements ?? [] where purchase["is_consumable"]?.bool != true {
            let isRefunded = purchase["is_refund"]?.bool == true
            add(
                purchase, isRefunded ? "non_subscription_purchase_refunded" : "non_subscription_purchase",
                at: purchase["purchased_at"]?.string, until: Self.end(of: levels, purchase))
        }
    }

    /// The end of the access that a purchase gives: only the access level has it in a grace period, and of what does not renew.
    private static func end(of levels: [JSONValue], _ purchase: JSONValue) -> String? {
        func end(_ value: JSONValue) -> Date { value["expires_at"]?.string.flatMap(FileDate.date) ?? .distantPast }
        let id = purchase["store_original_transaction_id"]?.string
        let own = levels.filter { $0["store_original_transaction_id"]?.string == id }
        let last = ([purchase] + own).max { end($0) < end($1) }
        return last?["expires_at"]?.string
    }

    private mutating func add(_ purchase: JSONValue, _ type: String, at date: String?, until end: String?) {
        let fields: [String: String?] = [
            "event_type": type, "event_datetime": date,
            "original_transaction_id": purchase["store_original_transaction_id"]?.string,
            "subscription_expires_at": end, "environment": purchase["environment"]?.string,
            "store": purchase["store"]?.string, "product_id": purchase["store_product_id"]?.string,
        ]
        records.append(AnsweredRecord(fields.merging(ids) { first, _ in first }))
    }
}
