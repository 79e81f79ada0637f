import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date

/// What subscribers pay, whose price changes, and who redeemed which offer code. Reads all subscriptions or transactions of the apps asked for.
package struct PriceReports: Sendable {
    /// Subscribers of a product who pay one price.
    package struct Price: Sendable {
        package var bundleId: String
        package var productId: String
        package var storefront: String?
        package var currency: String?
        package var milliunits: Int64
        /// What those paid who subscribed last.
        package var newestMilliunits: Int64
        package var subscriptions: Int64
        /// Of the paid period, seconds.
        package var period: Double
    }

    /// A subscription that stays at another price than those pay who subscribed last.
    package struct OldPrice: Sendable {
        package var bundleId: String
        package var originalTransactionId: String
        package var productId: String
        package var storefront: String?
        package var currency: String?
        package var milliunits: Int64
        package var newestMilliunits: Int64
        package var subscribedAt: Date?
        /// When the paid period ends.
        package var expiresAt: Date
    }

    /// A purchase that renews at another price than it has now.
    package struct PriceChange: Sendable {
        package var bundleId: String
        package var originalTransactionId: String
        package var productId: String
        package var currency: String?
        package var oldMilliunits: Int64
        package var newMilliunits: Int64
        /// Apple's raw value: 0 asked, 1 agreed or not needed; nil where Apple asks nothing.
        package var priceIncreaseStatus: Int?
        package var effectiveAt: Date?
    }

    /// Redemptions of one offer code.
    package struct OfferCode: Sendable {
        package var bundleId: String
        package var productId: String
        package var offerId: String
        /// Purchases that redeemed it.
        package var redemptions: Int64
        /// Periods that it paid for.
        package var transactions: Int64
        package var firstAt: Date?
        package var lastAt: Date?
    }

    private let connection: PostgresConnection

    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// Active subscriptions by price, without those in an offer, and those that another purchase pays for.
    /// - Parameter bundleId: nil means all apps.
    package func prices(
        of bundleId: String?, in environment: StoreEnvironment, at moment: Date, limit: Int
    ) async throws -> [Price] {
        try await connection.execute(Self.prices, environment.rawValue, bundleId, moment, Int64(limit)).map { row in
            Price(
                bundleId: try row.value("bundle_id"), productId: try row.value("product_id"),
                storefront: try row.optional("storefront"), currency: try row.optional("currency"),
                milliunits: try row.value("price_milliunits"), newestMilliunits: try row.value("newest_milliunits"),
                subscriptions: try row.value("subscriptions"), period: try row.value("period"))
        }
    }

    /// Active subscriptions at another price than those pay who subscribed last, the oldest of each product first; the same ones that
    /// ``prices(of:in:at:limit:)`` counts.
    /// - Parameter bundleId: nil means all apps.
    package func oldPrices(
        of bundleId: String?, in environment: StoreEnvironment, at moment: Date, limit: Int
    ) async throws -> [OldPrice] {
        try await connection.execute(Self.oldPrices, environment.rawValue, bundleId, moment, Int64(limit)).map { row in
            OldPrice(
                bundleId: try row.value("bundle_id"),
                originalTransactionId: try row.value("original_transaction_id"),
                productId: try row.value("product_id"), storefront: try row.optional("storefront"),
                currency: try row.optional("currency"), milliunits: try row.value("price_milliunits"),
                newestMilliunits: try row.value("newest_milliunits"),
                subscribedAt: try row.optional("originally_purchased_at"), expiresAt: try row.value("expires_at"))
        }
    }

    /// Subscriptions that renew at another price, the next first.
    package func changes(
        of bundleId: String?, in environment: StoreEnvironment, at moment: Date, limit: Int
    ) async throws -> [PriceChange] {
        try await connection.execute(Self.changes, environment.rawValue, bundleId, moment, Int64(limit)).map { row in
            PriceChange(
                bundleId: try row.value("bundle_id"),
                originalTransactionId: try row.value("original_transaction_id"),
                productId: try row.value("product_id"), currency: try row.optional("currency"),
                oldMilliunits: try row.value("price_milliunits"),
                newMilliunits: try row.value("renewal_price_milliunits"),
                priceIncreaseStatus: try row.optional("price_increase_status", as: Int64.self).map { Int($0) },
                effectiveAt: try row.optional("effective_at"))
        }
    }

    /// Redemptions of offer codes, by code; nil bounds are open.
    package func offerCodes(
        of bundleId: String?, in environment: StoreEnvironment, from: Date?, to: Date?, limit: Int
    ) async throws -> [OfferCode] {
        try await connection.execute(Self.offerCodes, environment.rawValue, bundleId, from, to, Int64(limit)).map {
            row in
            OfferCode(
                bundleId: try row.value("bundle_id"), productId: try row.value("product_id"),
                offerId: try row.value("offer_id"), redemptions: try row.value("redemptions"),
                transactions: try row.value("transactions"), firstAt: try row.optional("first_at"),
                lastAt: try row.optional("last_at"))
        }
    }

    static let statements = [prices, oldPrices, changes, offerCodes]

    /// The kinds of ownership without a payment of their own, as a list of SQL.
    private static let unpaid = TransactionFacts.ownershipsPaidElsewhere.map { "'\($0)'" }.joined(separator: ", ")

    /// What active subscriptions pay, beside what those pay who subscribed last to the same.
    private static let paid = """
        select bundle_id, original_transaction_id, product_id, storefront, currency, price_milliunits, purchased_at, expires_at,
            originally_purchased_at,
            first_value(price_milliunits) over (
                partition by bundle_id, product_id, storefront, currency, billing_plan_type
                order by originally_purchased_at desc nulls last, original_transaction_id desc) as newest_milliunits
        from subscription
        where environment = $1::text::store_environment and ($2::text is null or bundle_id = $2::text)
            and expires_at > $3::timestamptz and revoked_at is null and offer_type is null
            and (ownership is null or ownership not in (\(unpaid))) and price_milliunits is not null
            and purchased_at is not null and product_id is not null
        """

    private static let oldPrices = Statement(
        "old-prices",
        unsafeSQL: """
            select bundle_id, original_transaction_id, product_id, storefront, currency, price_milliunits, newest_milliunits,
                originally_purchased_at, expires_at
            from (
                \(paid)
            ) as paid
            where price_milliunits <> newest_milliunits
            order by bundle_id, product_id, storefront, currency, originally_purchased_at, original_transaction_id
            limit $4::bigint
            """)

    private static let prices = Statement(
        "price-report",
        unsafeSQL: """
            select bundle_id, product_id, storefront, currency, price_milliunits, newest_milliunits, count(*) as subscriptions,
                extract(epoch from max(expires_at - purchased_at))::double precision as period
            from (
                \(paid)
            ) as paid
            group by bundle_id, product_id, storefront, currency, price_milliunits, newest_milliunits
            order by bundle_id, product_id, storefront, currency, price_milliunits
            limit $4::bigint
            """)

    private static let changes = Statement(
        "price-changes",
        """
        select bundle_id, original_transaction_id, product_id, currency, price_milliunits, renewal_price_milliunits,
            price_increase_status, coalesce(renewal_at, expires_at) as effective_at
        from subscription
        where environment = $1::text::store_environment and ($2::text is null or bundle_id = $2::text)
            and expires_at > $3::timestamptz and revoked_at is null and is_auto_renewing
            and offer_type is null and renewal_offer_type is null
            and coalesce(auto_renew_product_id, product_id) = product_id
            and renewal_currency is not distinct from currency and renewal_price_milliunits <> price_milliunits
        order by coalesce(renewal_at, expires_at), original_transaction_id
        limit $4::bigint
        """)

    private static let offerCodes = Statement(
        "offer-code-report",
        """
        select bundle_id, product_id, offer_id, count(distinct original_transaction_id) as redemptions,
            count(*) as transactions, min(purchased_at) as first_at, max(purchased_at) as last_at
        from transaction
        where environment = $1::text::store_environment and ($2::text is null or bundle_id = $2::text)
            and offer_type = 3 and offer_id is not null and ($3::timestamptz is null or purchased_at >= $3::timestamptz)
            and ($4::timestamptz is null or purchased_at < $4::timestamptz)
        group by bundle_id, product_id, offer_id
        order by bundle_id, product_id, offer_id
        limit $5::bigint
        """)
}
