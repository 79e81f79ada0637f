import Postgres
import Subscriptions

import struct Foundation.Date

/// The facts of a transaction as columns; the tables `transaction` and `subscription` name them alike.
enum TransactionColumns {
    /// All but when Apple signed them, which each table calls otherwise.
    static let names: StaticString = """
        transaction_id, product_id, product_type, subscription_group_id, purchased_at, originally_purchased_at,
        expires_at, quantity, app_account_token, ownership, is_upgraded, revoked_at, revocation_reason, offer_type,
        offer_id, price_milliunits, currency, transaction_reason, offer_discount_type, revocation_type,
        app_transaction_id, web_order_line_item_id, previous_original_transaction_id
        """

    /// What an upsert that wins does to ``names``.
    static let overwriting: StaticString = """
        transaction_id = excluded.transaction_id,
        product_id = excluded.product_id,
        product_type = excluded.product_type,
        subscription_group_id = excluded.subscription_group_id,
        purchased_at = excluded.purchased_at,
        originally_purchased_at = excluded.originally_purchased_at,
        expires_at = excluded.expires_at,
        quantity = excluded.quantity,
        app_account_token = excluded.app_account_token,
        ownership = excluded.ownership,
        is_upgraded = excluded.is_upgraded,
        revoked_at = excluded.revoked_at,
        revocation_reason = excluded.revocation_reason,
        offer_type = excluded.offer_type,
        offer_id = excluded.offer_id,
        price_milliunits = excluded.price_milliunits,
        currency = excluded.currency,
        transaction_reason = excluded.transaction_reason,
        offer_discount_type = excluded.offer_discount_type,
        revocation_type = excluded.revocation_type,
        app_transaction_id = excluded.app_transaction_id,
        web_order_line_item_id = excluded.web_order_line_item_id,
        previous_original_transaction_id = excluded.previous_original_transaction_id
        """

    /// One array per column in the order of ``names``, and then when Apple signed them.
    static func parameters(_ facts: [TransactionFacts?]) -> [any PostgresParameter] {
        [
            facts.map { $0?.transactionId },
            facts.map { $0?.productId },
            facts.map { $0?.productType },
            facts.map { $0?.subscriptionGroupIdentifier },
            facts.map { $0?.purchaseDate },
            facts.map { $0?.originalPurchaseDate },
            facts.map { $0?.expiresDate },
            facts.map { $0?.quantity.map(Int64.init) },
            facts.map { $0?.appAccountToken },
            facts.map { $0?.ownership },
            facts.map { $0?.isUpgraded },
            facts.map { $0?.revocationDate },
            facts.map { $0?.revocationReason.map(Int64.init) },
            facts.map { $0?.offerType.map(Int64.init) },
            facts.map { $0?.offerIdentifier },
            facts.map { $0?.priceMilliunits },
            facts.map { $0?.currency },
            facts.map { $0?.reason },
            facts.map { $0?.offerDiscountType },
            facts.map { $0?.revocationType },
            facts.map { $0?.appTransactionId },
            facts.map { $0?.webOrderLineItemId },
            facts.map { $0?.previousOriginalTransactionId },
            facts.map { $0?.signedDate },
        ]
    }

    /// - Returns: nil where the row holds no transaction.
    static func read(_ row: Row, signedAt: String) throws -> TransactionFacts? {
        guard let signedDate: Date = try row.optional(signedAt) else { return nil }
        return TransactionFacts(
            transactionId: try row.value("transaction_id"),
            productId: try row.value("product_id"),
            productType: try row.value("product_type"),
            subscriptionGroupIdentifier: try row.optional("subscription_group_id"),
            purchaseDate: try row.optional("purchased_at"),
            originalPurchaseDate: try row.optional("originally_purchased_at"),
            expiresDate: try row.optional("expires_at"),
            quantity: try row.optional("quantity", as: Int64.self).map(Int.init),
            appAccountToken: try row.optional("app_account_token"),
            ownership: try row.optional("ownership"),
            isUpgraded: try row.value("is_upgraded"),
            revocationDate: try row.optional("revoked_at"),
            revocationReason: try row.optional("revocation_reason", as: Int64.self).map(Int.init),
            offerType: try row.optional("offer_type", as: Int64.self).map(Int.init),
            offerIdentifier: try row.optional("offer_id"),
            priceMilliunits: try row.optional("price_milliunits"),
            currency: try row.optional("currency"),
            signedDate: signedDate,
            reason: try row.optional("transaction_reason"),
            offerDiscountType: try row.optional("offer_discount_type"),
            revocationType: try row.optional("revocation_type"),
            appTransactionId: try row.optional("app_transaction_id"),
            webOrderLineItemId: try row.optional("web_order_line_item_id"),
            previousOriginalTransactionId: try row.optional("previous_original_transaction_id"))
    }
}

/// The facts of a renewal info as columns.
enum RenewalColumns {
    static let names: StaticString = """
        is_auto_renewing, auto_renew_product_id, is_in_billing_retry, grace_period_expires_at, expiration_intent,
        price_increase_status, recent_start_at, renewal_at, renewal_product_id, renewal_price_milliunits,
        renewal_currency, renewal_offer_type, renewal_offer_id, renewal_signed_at
        """

    /// One array per column in the order of ``names``.
    static func parameters(_ facts: [RenewalFacts?]) -> [any PostgresParameter] {
        [
            facts.map { $0?.autoRenewStatus },
            facts.map { $0?.autoRenewProductId },
            facts.map { $0?.isInBillingRetry },
            facts.map { $0?.gracePeriodExpiresDate },
            facts.map { $0?.expirationIntent.map(Int64.init) },
            facts.map { $0?.priceIncreaseStatus.map(Int64.init) },
            facts.map { $0?.recentSubscriptionStartDate },
            facts.map { $0?.renewalDate },
            facts.map { $0?.productId },
            facts.map { $0?.renewalPriceMilliunits },
            facts.map { $0?.currency },
            facts.map { $0?.offerType.map(Int64.init) },
            facts.map { $0?.offerIdentifier },
            facts.map { $0?.signedDate },
        ]
    }

    /// - Returns: nil where the row holds no renewal info.
    static func read(_ row: Row) throws -> RenewalFacts? {
        guard let signedDate: Date = try row.optional("renewal_signed_at") else { return nil }
        return RenewalFacts(
            autoRenewStatus: try row.optional("is_auto_renewing"),
            autoRenewProductId: try row.optional("auto_renew_product_id"),
            isInBillingRetry: try row.optional("is_in_billing_retry"),
            gracePeriodExpiresDate: try row.optional("grace_period_expires_at"),
            expirationIntent: try row.optional("expiration_intent", as: Int64.self).map(Int.init),
            priceIncreaseStatus: try row.optional("price_increase_status", as: Int64.self).map(Int.init),
            recentSubscriptionStartDate: try row.optional("recent_start_at"),
            renewalDate: try row.optional("renewal_at"),
            signedDate: signedDate,
            productId: try row.optional("renewal_product_id"),
            renewalPriceMilliunits: try row.optional("renewal_price_milliunits"),
            currency: try row.optional("renewal_currency"),
            offerType: try row.optional("renewal_offer_type", as: Int64.self).map(Int.init),
            offerIdentifier: try row.optional("renewal_offer_id"))
    }
}
