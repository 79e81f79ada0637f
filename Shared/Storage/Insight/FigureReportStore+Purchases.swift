import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date

/// The part of a purchase in a figure of a day.
package struct PurchasePart: Sendable, Equatable {
    /// Its place in a list, which ends with the oldest day.
    package struct Position: Sendable, Equatable {
        /// The first moment of the day in UTC.
        package var day: Date
        package var originalTransactionId: String
        /// Among all that the purchase adds.
        package var place: Int64

        package init(day: Date, originalTransactionId: String, place: Int64) {
            (self.day, self.originalTransactionId, self.place) = (day, originalTransactionId, place)
        }
    }

    package var position: Position
    package var key: SubscriptionKey
    package var bundleId: String
    package var kind: PurchaseFigures.Kind
    /// Its meaning depends on the kind.
    package var step: Int64
    package var productId: String
    package var storefront: String
    /// ISO 4217 code.
    package var currency: String
    package var period: String
    package var offer: String
    /// Thousandths of a unit of currency.
    package var amount: Int64
    package var count: Int64
}

extension FigureReportStore {
    /// The parts of purchases in the row of a report, the newest days first and those of a day by purchase. They add up to the row's
    /// figures, which are made of them.
    ///
    /// A day is read first, and more and more days at once as long as they hold little, so that neither an app with a million charges a day
    /// nor one with a charge a year waits.
    /// - Parameters:
    ///   - kinds: not of losses, by whose days purchases are not found.
    ///   - bundleIds: nil means all apps.
    ///   - range: of the row; whole days in UTC.
    ///   - cells: of the row; a dimension that is not among them may be anything.
    ///   - position: of the last one of the page before; nil: from the newest.
    package func purchases(
        behind kinds: [PurchaseFigures.Kind], in environment: StoreEnvironment, of bundleIds: [String]?,
        during range: Range<Date>, cells: [FigureReport.Dimension: String] = [:],
        after position: PurchasePart.Position? = nil, limit: Int
    ) async throws -> [PurchasePart] {
        let first = Self.number(of: range.lowerBound)
        var (end, width) = (Self.number(of: range.upperBound), 1)
        if let position { end = min(end, Self.number(of: position.day) + 1) }
        var found: [PurchasePart] = []
        while end > first, found.count < limit {
            let days = max(first, end - Int32(width))..<end
            func read(_ statement: Statement, limit: Int) async throws -> Rows {
                try await connection.execute(
                    statement, environment.rawValue, bundleIds, Array(days), kinds.map(\.rawValue), cells[.product],
                    cells[.storefront], cells[.currency], cells[.period], cells[.offer],
                    position.map { Self.number(of: $0.day) }, position?.originalTransactionId, position?.place,
                    Int64(limit), Array(Set(days.flatMap { day in kinds.compactMap { $0.key(of: day) } })))
            }
            var rows = try await read(Self.ofDays, limit: many)
            if rows.count == many {
                guard days.count == 1 else {
                    width = 1
                    continue
                }
                rows = try await read(Self.ofFullDay, limit: limit - found.count)
            }
            found += try rows.compactMap { row in try PurchasePart(row, environment) }
            end = days.lowerBound
            width = min(width * 2, 128)
        }
        return Array(found.prefix(limit))
    }

    /// Days since 1970.
    private static func number(of day: Date) -> Int32 {
        Int32(clamping: Int((day.timeIntervalSince1970 / BillingRules.day).rounded(.down)))
    }

    /// Read in no order until there are many, and then sorted. The environment is compared as text, because to the planner the primary key,
    /// which begins with it, looks as good as the index of days until the table is analyzed.
    static let ofDays = Statement(
        "figure-report-purchases",
        unsafeSQL: """
            select *
            from (
                \(parts)
                where held.day_keys && $14::integer[] and held.environment::text = $1::text
                    \(conditions)
                limit $13::bigint
            ) as part
            order by day desc, original_transaction_id, place
            """)

    /// Of a day on which many purchases are: by the primary key, of which each page reads a part. The index of days, which has no order, does
    /// not serve the sum of two lists.
    static let ofFullDay = Statement(
        "figure-report-purchases-full",
        unsafeSQL: """
            \(parts)
            where held.environment = $1::text::store_environment
                and held.original_transaction_id
                    >= coalesce(case when $10::integer = ($3::integer[])[1] then $11::text end, '')
                and (held.day_keys || '{}') && $14::integer[]
                \(conditions)
            order by held.original_transaction_id, place
            limit $13::bigint
            """)

    private static let parts = """
        select held.original_transaction_id, held.bundle_id, (one->>0)::bigint as day, one->>1 as kind,
            (one->>2)::bigint as step, one->>3 as currency, one->>4 as product_id, one->>5 as storefront,
            one->>6 as period, one->>7 as offer, (one->>8)::bigint as amount, (one->>11)::bigint as count, place
        from insight_purchase held
        cross join lateral jsonb_array_elements(held.figures) with ordinality as entry (one, place)
        """

    private static let conditions = """
        and ($2::text[] is null or held.bundle_id = any ($2::text[]))
        and (one->>0)::integer = any ($3::integer[]) and one->>1 = any ($4::text[])
        and one->>4 = coalesce($5::text, one->>4) and one->>5 = coalesce($6::text, one->>5)
        and one->>3 = coalesce($7::text, one->>3) and one->>6 = coalesce($8::text, one->>6)
        and one->>7 = coalesce($9::text, one->>7)
        and ((one->>0)::integer is distinct from $10::integer
            or (held.original_transaction_id, place) > ($11::text, $12::bigint))
        """
}

extension PurchasePart {
    /// Nil for a kind that this build does not know.
    fileprivate init?(_ row: Row, _ environment: StoreEnvironment) throws {
        guard let kind = PurchaseFigures.Kind(rawValue: try row.value("kind")) else { return nil }
        let id: String = try row.value("original_transaction_id")
        let day = Date(timeIntervalSince1970: Double(try row.value("day", as: Int64.self)) * BillingRules.day)
        self.init(
            position: Position(day: day, originalTransactionId: id, place: try row.value("place")),
            key: SubscriptionKey(environment: environment, originalTransactionId: id),
            bundleId: try row.value("bundle_id"), kind: kind, step: try row.value("step"),
            productId: try row.value("product_id"), storefront: try row.value("storefront"),
            currency: try row.value("currency"), period: try row.value("period"), offer: try row.value("offer"),
            amount: try row.value("amount"), count: try row.value("count"))
    }
}
