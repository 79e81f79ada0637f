import Postgres
import Subscriptions

import struct Foundation.Date

extension TransactionFacts {
    /// The facts of a transaction as columns, which have the same names in the tables `transaction` and `subscription`.
    /// - Parameter signedAt: the name of the column with the signed date.
    static func columns(signedAt: StaticString) -> [Column<TransactionFacts>] {
        [
            Column(signedAt, \.signedDate),
            Column("transaction_id", \.transactionId),
            Column("product_id", \.productId),
            Column("product_type", \.productType),
            Column("subscription_group_id", \.subscriptionGroupIdentifier),
            Column("purchased_at", \.purchaseDate),
            Column("originally_purchased_at", \.originalPurchaseDate),
            Column("expires_at", \.expiresDate),
            Column("quantity", \.quantity),
            Column(uuid: "app_account_token", \.appAccountToken),
            Column("ownership", \.ownership),
            Column("is_upgraded", \.isUpgraded),
            Column("revoked_at", \.revocationDate),
            Column("revocation_reason", \.revocationReason),
            Column("revocation_type", \.revocationType),
            Column("revocation_percentage", \.revocationPercentage),
            Column("offer_type", \.offerType),
            Column("offer_id", \.offerIdentifier),
            Column("offer_period", \.offerPeriod),
            Column("offer_discount_type", \.offerDiscountType),
            Column("price_milliunits", \.priceMilliunits),
            Column("currency", \.currency),
            Column("storefront", \.storefront),
            Column("transaction_reason", \.reason),
            Column("additional_transaction_reason", \.additionalTransactionReason),
            Column("app_transaction_id", \.appTransactionId),
            Column("web_order_line_item_id", \.webOrderLineItemId),
            Column("previous_original_transaction_id", \.previousOriginalTransactionId),
            Column("billing_plan_type", \.billingPlanType),
            Column(json: "commitment_info", \.commitmentInfo),
            Column(json: "multi_seat_info", \.multiSeatInfo),
            Column(
                "item_refunds", as: JSONText.self,
                get: { $0.itemRefunds.isEmpty ? nil : JSONText(itemRefunds: $0.itemRefunds) },
                set: { $0.itemRefunds = $1?.itemRefunds ?? [] }),
            Column("revoked_seat_quantity", \.revokedSeatQuantity),
        ]
    }

    /// An empty value whose properties are set from a row.
    static let empty = TransactionFacts(transactionId: "", productId: "", productType: "", signedDate: .distantPast)
}

extension RenewalFacts {
    /// The facts of a renewal info as columns of `subscription`.
    static let columns: [Column<RenewalFacts>] = [
        Column("renewal_signed_at", \.signedDate),
        Column("is_auto_renewing", \.autoRenewStatus),
        Column("auto_renew_product_id", \.autoRenewProductId),
        Column("is_in_billing_retry", \.isInBillingRetry),
        Column("grace_period_expires_at", \.gracePeriodExpiresDate),
        Column("expiration_intent", \.expirationIntent),
        Column("price_increase_status", \.priceIncreaseStatus),
        Column("recent_start_at", \.recentSubscriptionStartDate),
        Column("renewal_at", \.renewalDate),
        Column("renewal_product_id", \.productId),
        Column("renewal_price_milliunits", \.renewalPriceMilliunits),
        Column("renewal_currency", \.currency),
        Column("renewal_offer_type", \.offerType),
        Column("renewal_offer_id", \.offerIdentifier),
        Column("renewal_offer_period", \.offerPeriod),
        Column(uuid: "renewal_app_account_token", \.appAccountToken),
        Column(
            "eligible_win_back_offer_ids", as: JSONText.self,
            get: { $0.eligibleWinBackOfferIds.map(JSONText.init(texts:)) },
            set: { $0.eligibleWinBackOfferIds = $1?.texts }),
        Column(json: "renewal_commitment_info", \.commitmentInfo),
        Column("renewal_billing_plan_type", \.billingPlanType),
    ]

    /// An empty value whose properties are set from a row.
    static let empty = RenewalFacts(signedDate: .distantPast)
}
