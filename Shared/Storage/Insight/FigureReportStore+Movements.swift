import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date

extension FigureReportStore {
    /// A movement of monthly revenue, and the purchase that made it.
    package struct PurchaseMovement: Sendable {
        package var key: SubscriptionKey
        package var movement: RevenueMovement
    }

    /// The movements behind a row of a report, the newest first.
    /// - Parameters:
    ///   - bundleId: of the app.
    ///   - range: of the row.
    ///   - cells: of the row; a dimension that is not among them may be anything.
    package func movements(
        in environment: StoreEnvironment, of bundleId: String, during range: Range<Date>,
        cells: [FigureReport.Dimension: String], limit: Int
    ) async throws -> [PurchaseMovement] {
        try await connection.execute(
            Self.behind, environment.rawValue, bundleId, range.lowerBound, range.upperBound, cells[.product],
            cells[.storefront], cells[.currency], cells[.period], cells[.offer], Int64(limit)
        ).map { row in
            let held = try MovementRow.read(row)
            return PurchaseMovement(key: held.key, movement: held.movement)
        }
    }

    static let behind = Statement(
        "figure-report-movements",
        unsafeSQL: """
            select \(MovementRow.columns.selected())
            from mrr_movement
            where environment = $1::text::store_environment and bundle_id = $2::text and at >= $3::timestamptz
                and at < $4::timestamptz and product_id = coalesce($5::text, product_id)
                and storefront = coalesce($6::text, storefront) and currency = coalesce($7::text, currency)
                and period = coalesce($8::text, period) and offer = coalesce($9::text, offer)
            order by at desc, original_transaction_id, kind, currency, product_id
            limit $10::bigint
            """)

    /// What Apple paid back of a transaction.
    package struct PurchaseRefund: Sendable {
        package var key: SubscriptionKey
        /// When.
        package var at: Date
        package var productId: String
        /// ISO 4217 code.
        package var currency: String
        /// Thousandths of a unit of currency.
        package var amount: Int64
    }

    /// The refunds behind a row of the report on charges and refunds, by the day of the refund, the newest first.
    /// - Parameters:
    ///   - bundleId: of the app.
    ///   - range: of the row.
    ///   - cells: product, storefront and currency of the row; one that is not among them may be anything.
    package func refunds(
        in environment: StoreEnvironment, of bundleId: String, during range: Range<Date>,
        cells: [FigureReport.Dimension: String], limit: Int
    ) async throws -> [PurchaseRefund] {
        try await connection.execute(
            Self.refunded, environment.rawValue, bundleId, range.lowerBound, range.upperBound, cells[.product],
            cells[.storefront], cells[.currency], Int64(limit)
        ).compactMap { row -> PurchaseRefund? in
            let held = try StoredTransaction.read(row)
            let facts = held.version.facts
            guard let at = facts.revocationDate, let total = PaidTotal.all(of: [facts]).first, total.refunded > 0
            else { return nil }
            return PurchaseRefund(
                key: held.key, at: at, productId: facts.productId, currency: total.currency, amount: total.refunded)
        }
    }

    static let refunded = Statement(
        "figure-report-refunds",
        unsafeSQL: """
            select \(StoredTransaction.columns.selected()), \(StoredTransaction.facts.selected())
            from transaction
            where environment = $1::text::store_environment and bundle_id = $2::text and revoked_at >= $3::timestamptz
                and revoked_at < $4::timestamptz and price_milliunits > 0
                and coalesce(ownership, '') not in ('FAMILY_SHARED', 'ASSIGNED')
                and coalesce(revocation_type, '') not in ('FAMILY_REVOKE', 'ASSIGNMENT_REVOKE')
                and product_id = coalesce($5::text, product_id)
                and coalesce(storefront, '') = coalesce($6::text, storefront, '')
                and currency = coalesce($7::text, currency)
            order by revoked_at desc, transaction_id
            limit $8::bigint
            """)

    /// A free trial of a purchase.
    package struct PurchaseTrial: Sendable {
        package var key: SubscriptionKey
        /// When it began.
        package var at: Date
        package var endsAt: Date
        package var productId: String
    }

    /// The free trials behind a row of the report on trials, by the day of their beginning, the newest first.
    /// - Parameters:
    ///   - bundleId: of the app.
    ///   - range: of the row.
    ///   - cells: product, storefront and currency of the row; one that is not among them may be anything.
    package func trials(
        in environment: StoreEnvironment, of bundleId: String, during range: Range<Date>,
        cells: [FigureReport.Dimension: String], limit: Int
    ) async throws -> [PurchaseTrial] {
        try await connection.execute(
            Self.tried, environment.rawValue, bundleId, range.lowerBound, range.upperBound, cells[.product],
            cells[.storefront], cells[.currency], Int64(limit)
        ).compactMap { row -> PurchaseTrial? in
            let held = try StoredTransaction.read(row)
            let facts = held.version.facts
            guard let end = facts.expiresDate else { return nil }
            return PurchaseTrial(key: held.key, at: facts.beginning, endsAt: end, productId: facts.productId)
        }
    }

    /// What ``TransactionFacts/isFreeTrial`` says, as the index has it. A transaction without a date of purchase is counted by the date of
    /// its signature and not found here: that date changes with every version, and an index of it would make each update a dear one.
    static let tried = Statement(
        "figure-report-trials",
        unsafeSQL: """
            select \(StoredTransaction.columns.selected()), \(StoredTransaction.facts.selected())
            from transaction
            where environment = $1::text::store_environment and bundle_id = $2::text
                and (offer_discount_type = 'FREE_TRIAL' or offer_type is not null and price_milliunits = 0)
                and purchased_at >= $3::timestamptz and purchased_at < $4::timestamptz
                and expires_at is not null and coalesce(ownership, '') not in ('FAMILY_SHARED', 'ASSIGNED')
                and product_id = coalesce($5::text, product_id)
                and coalesce(storefront, '') = coalesce($6::text, storefront, '')
                and coalesce(currency, '') = coalesce($7::text, currency, '')
            order by purchased_at desc, transaction_id
            limit $8::bigint
            """)
}
