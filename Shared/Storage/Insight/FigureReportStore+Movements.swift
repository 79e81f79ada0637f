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
}
