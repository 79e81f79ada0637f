import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date

/// What a purchase changed in a figure of a day after the day was first reported.
package struct FigureCorrection: Sendable, Equatable {
    /// Its place in a list, which ends with the oldest day.
    package struct Position: Sendable, Equatable {
        /// The first moment of the day in UTC.
        package var day: Date
        package var id: Int64

        package init(day: Date, id: Int64) { (self.day, self.id) = (day, id) }
    }

    package var position: Position
    /// When it was known.
    package var correctedAt: Date
    package var key: SubscriptionKey
    package var bundleId: String
    /// As ``PurchaseFigures/Kind``, or one that this build does not know.
    package var kind: String
    /// ISO 4217 code.
    package var currency: String
    /// What the day has more, in thousandths of a unit of currency; negative where it has less.
    package var amount: Int64
    /// The same of movements or transactions.
    package var count: Int64
}

extension FigureReportStore {
    /// What changed in figures of days after the days were reported, the newest days and changes first.
    /// - Parameters:
    ///   - bundleIds: nil means all apps.
    ///   - range: whole days in UTC.
    ///   - position: of the last one of the page before; nil: from the newest.
    package func corrections(
        in environment: StoreEnvironment, of bundleIds: [String]?, during range: Range<Date>,
        after position: FigureCorrection.Position? = nil, limit: Int
    ) async throws -> [FigureCorrection] {
        // Nothing of the day after the last, because ids begin at 1.
        var end = FigureCorrection.Position(day: range.upperBound, id: 0)
        if let position, position.day < range.upperBound { end = position }
        return try await connection.execute(
            Self.corrected, environment.rawValue, bundleIds, range.lowerBound, end.day, end.id, Int64(limit)
        ).map { row in try FigureCorrection(row, environment) }
    }

    /// Each app by itself, so that the index has its rows in order, and no more of them are read than are asked for.
    static let corrected = Statement(
        "figure-report-corrections",
        unsafeSQL: """
            with recursive \(apps)
            select correction.id, day::timestamp at time zone 'UTC' as day, corrected_at, bundle_id, original_transaction_id,
                kind, currency, amount, count
            from (
                select distinct asked
                from unnest(coalesce($2::text[], array(select id from app where id is not null))) as asked
            ) as place
            cross join lateral (
                select *
                from insight_correction
                where environment = $1::text::store_environment and bundle_id = asked and day >= \(day("$3"))
                    and (day, id) < (\(day("$4")), $5::bigint)
                order by insight_correction.day desc, id desc
                limit $6::bigint
            ) as correction
            order by correction.day desc, correction.id desc
            limit $6::bigint
            """)
}

extension FigureCorrection {
    fileprivate init(_ row: Row, _ environment: StoreEnvironment) throws {
        position = Position(day: try row.value("day"), id: try row.value("id"))
        correctedAt = try row.value("corrected_at")
        key = SubscriptionKey(
            environment: environment, originalTransactionId: try row.value("original_transaction_id"))
        bundleId = try row.value("bundle_id")
        kind = try row.value("kind")
        currency = try row.value("currency")
        amount = try row.value("amount")
        count = try row.value("count")
    }
}
