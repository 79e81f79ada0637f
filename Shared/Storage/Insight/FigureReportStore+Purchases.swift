import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date

extension FigureReportStore {
    /// What a purchase adds to a figure of a day.
    package struct PurchasePart: Sendable {
        package var key: SubscriptionKey
        /// The first moment of the day in UTC.
        package var day: Date
        package var kind: PurchaseFigures.Kind
        /// What it is depends on the kind.
        package var step: Int64
        package var productId: String
        /// ISO 4217 code.
        package var currency: String
        /// Thousandths of a unit of currency.
        package var amount: Int64
        package var count: Int64
    }

    /// What purchases add to the charges or cohorts of a row, the newest days first. All of it adds up to the row's figures, because it is
    /// what their sums are made of.
    ///
    /// Day by day, so that a row of a million charges reads no more of them than are asked for.
    /// - Parameters:
    ///   - kinds: `charge`, `loyalCharge` or `periods`; purchases are not found by the days of others.
    ///   - bundleId: of the app.
    ///   - range: of the row; whole days in UTC.
    ///   - cells: of the row; a dimension that is not among them may be anything.
    package func parts(
        of kinds: [PurchaseFigures.Kind], in environment: StoreEnvironment, of bundleId: String,
        during range: Range<Date>, cells: [FigureReport.Dimension: String], limit: Int
    ) async throws -> [PurchasePart] {
        var found: [PurchasePart] = []
        var day = range.upperBound
        while day > range.lowerBound, found.count < limit {
            day = FigureReport.Interval.day.start(of: day.addingTimeInterval(-1))
            let rows = try await connection.execute(
                Self.ofDay, environment.rawValue, bundleId, day, kinds.map(\.rawValue), cells[.product],
                cells[.storefront], cells[.currency], cells[.period], cells[.offer], Int64(limit - found.count))
            found += try rows.compactMap { row in try PurchasePart(row, environment, day) }
                .sorted { ($0.key, $0.productId) < ($1.key, $1.productId) }
        }
        return found
    }

    /// In no order, so that it ends with the last row that was asked for. The environment is compared as text, because to the planner the
    /// primary key, which begins with it, looks as good as the index of days until the table is analyzed.
    static let ofDay = Statement(
        "figure-report-purchases",
        """
        select original_transaction_id, one->>1 as kind, (one->>2)::bigint as step, one->>3 as currency,
            one->>4 as product_id, (one->>8)::bigint as amount, (one->>11)::bigint as count
        from (select ($3::timestamptz at time zone 'UTC')::date - date '1970-01-01' as day) as asked
        join insight_purchase held on held.days @> array[asked.day]
        cross join lateral jsonb_array_elements(held.figures) as one
        where held.environment::text = $1::text and held.bundle_id = $2::text and (one->>0)::bigint = asked.day
            and one->>1 = any ($4::text[]) and one->>4 = coalesce($5::text, one->>4)
            and one->>5 = coalesce($6::text, one->>5) and one->>3 = coalesce($7::text, one->>3)
            and one->>6 = coalesce($8::text, one->>6) and one->>7 = coalesce($9::text, one->>7)
        limit $10::bigint
        """)
}

extension FigureReportStore.PurchasePart {
    /// Nil for a kind that this build does not know.
    fileprivate init?(_ row: Row, _ environment: StoreEnvironment, _ day: Date) throws {
        guard let kind = PurchaseFigures.Kind(rawValue: try row.value("kind")) else { return nil }
        self.init(
            key: SubscriptionKey(
                environment: environment, originalTransactionId: try row.value("original_transaction_id")),
            day: day, kind: kind, step: try row.value("step"), productId: try row.value("product_id"),
            currency: try row.value("currency"), amount: try row.value("amount"), count: try row.value("count"))
    }
}
