import Foundation

/// A system whose export is imitated.
enum ExportShape: String, Sendable, CaseIterable {
    /// A record for each transaction: https://www.revenuecat.com/docs/integrations/scheduled-data-exports
    case revenueCat = "revenuecat"
    /// A record for each event: https://adapty.io/docs/s3-exports
    case adapty

    var header: [String] {
        switch self {
        case .revenueCat:
            [
                "rc_original_app_user_id", "rc_last_seen_app_user_id_alias", "country", "product_identifier",
                "start_time", "end_time", "store", "is_auto_renewable", "is_trial_period", "is_in_intro_offer_period",
                "is_sandbox", "price_in_usd", "takehome_percentage", "store_transaction_id",
                "original_store_transaction_id", "refunded_at", "unsubscribe_detected_at", "billing_issues_detected_at",
                "purchased_currency", "price_in_purchased_currency", "entitlement_identifiers", "renewal_number",
                "is_trial_conversion", "presented_offering", "reserved_subscriber_attributes",
                "custom_subscriber_attributes", "platform", "grace_period_end_time", "effective_end_time",
                "ownership_type",
            ]
        case .adapty:
            [
                "profile_id", "event_type", "event_datetime", "transaction_id", "original_transaction_id",
                "subscription_expires_at", "environment", "customer_user_id", "store", "product_id",
                "base_plan_id", "developer_id", "country", "currency", "email",
            ]
        }
    }

    /// True for an export with access that was given by hand.
    var hasAccessByHand: Bool { self == .revenueCat }

    /// True where the newest record of each purchase says everything.
    var isOfEvents: Bool { self == .adapty }

    /// The file: a header, and a line for each record.
    func text(of records: [ExportedRecord]) -> String {
        var text = header.joined(separator: ",") + "\n"
        for record in records {
            let fields = fields(of: record)
            text += header.map { Self.quoted(fields[$0] ?? "") }.joined(separator: ",") + "\n"
        }
        return text
    }

    private func fields(of record: ExportedRecord) -> [String: String] {
        switch self {
        case .revenueCat: Self.revenueCat(record)
        case .adapty: Self.adapty(record)
        }
    }

    private static func revenueCat(_ record: ExportedRecord) -> [String: String] {
        var fields = [
            "rc_original_app_user_id": record.customerId, "rc_last_seen_app_user_id_alias": record.customerId,
            "product_identifier": record.productId, "start_time": time(record.start),
            "is_auto_renewable": "\(record.isSubscription)", "is_trial_period": "false",
            "is_in_intro_offer_period": "false", "is_sandbox": "\(record.isSandbox)",
            "entitlement_identifiers": record.givesAccess ? "[\"\(record.productId)\"]" : "[]",
            "ownership_type": record.isFamilyShared ? "FAMILY_SHARED" : "PURCHASED",
            // Attributes are whatever apps set, and are in such files: a reader must not trip over them.
            "custom_subscriber_attributes": #"{"$email": {"value": "one@example.com"}, "note": {"value": "a, \"b\""}}"#,
        ]
        switch record.store {
        case .appStore: fields["store"] = "app_store"
        case .playStore: fields["store"] = "play_store"
        case .byHand: fields["store"] = "promotional"
        }
        fields["store_transaction_id"] = record.transactionId
        fields["original_store_transaction_id"] = record.originalTransactionId
        fields["end_time"] = record.end.map(time)
        fields["effective_end_time"] = record.effectiveEnd.map(time)
        fields["grace_period_end_time"] = record.graceEnd.map(time)
        fields["refunded_at"] = record.refundedAt.map(time)
        return fields
    }

    private static func adapty(_ record: ExportedRecord) -> [String: String] {
        var type = record.isSubscription ? "subscription_started" : "non_subscription_purchase"
        if record.graceEnd != nil {
            type = "entered_grace_period"
        } else if record.isRenewal {
            type = "subscription_renewed"
        }
        if record.refundedAt != nil {
            type = record.isSubscription ? "subscription_refunded" : "non_subscription_purchase_refunded"
        }
        var fields = [
            "profile_id": "profile-of-\(record.customerId)", "event_type": type,
            "event_datetime": time(record.refundedAt ?? record.start), "customer_user_id": record.customerId,
            "environment": record.isSandbox ? "Sandbox" : "Production", "product_id": record.productId,
            "store": record.store == .playStore ? "play_store" : "app_store", "email": "one@example.com",
        ]
        fields["transaction_id"] = record.transactionId
        fields["original_transaction_id"] = record.originalTransactionId
        fields["subscription_expires_at"] = record.effectiveEnd.map(time)
        return fields
    }

    /// A date in UTC, to the second, as both have it.
    private static func time(_ date: Date) -> String {
        let text = date.formatted(.iso8601)
        return text.replacing("T", with: " ").replacing("Z", with: "")
    }

    private static func quoted(_ field: String) -> String {
        guard field.contains(where: { ",\"\r\n".contains($0) }) else { return field }
        return "\"" + field.replacing("\"", with: "\"\"") + "\""
    }
}
