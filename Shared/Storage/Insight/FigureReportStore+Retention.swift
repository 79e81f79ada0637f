import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date

extension FigureReportStore {
    /// The statement that reads cohorts.
    /// - Parameter asOf: as of when the figures are. Until they are complete no sum is shown, so the time of none has come.
    func retention(_ query: FigureReport.Query, asOf: Date?) -> Command {
        let periods = Self.periods
        return Command(
            Self.retention, query.environment.rawValue, query.bundleIds, asOf?.timeIntervalSince1970 ?? 0,
            query.interval.rawValue, query.dimensions.map(\.rawValue), query.kinds, query.days.lowerBound,
            query.days.upperBound,
            Int64(limit) + 1, periods.map(\.description),
            periods.flatMap { period in
                (0..<Int64(Table.steps)).map { period.longest($0, in: query.environment) }
            })
    }

    /// Those that Apple offers. Any other one is told apart by day.
    private static let periods = ["P3D", "P1W", "P2W", "P1M", "P2M", "P3M", "P6M", "P1Y"].compactMap(BillingPeriod.init)

    /// Purchases that began on days of a row for which the time of the same periods has come are one sum, of the first of
    /// these days, because sums of each day would be thousands for each storefront.
    static let retention = Statement(
        "figure-report-retention",
        unsafeSQL: """
            with recursive \(apps), length as materialized (
                select known, ($11::double precision[])[(place - 1) * \(Table.steps) + 1 : place * \(Table.steps)] as lengths
                from unnest($10::text[]) with ordinality as given (known, place)
            )
            select min(day)::timestamp at time zone 'UTC' as span, kind, step, \(cellNames), 0::bigint as amount,
                0::bigint as revenuecat_amount, 0::bigint as purchases, sum(count)::bigint as count
            from (
                select day, kind, least(step, \(Table.steps))::bigint as step, \(cell("$5")), period as length, count,
                    coalesce(
                        width_bucket($3::double precision - (day - date '1970-01-01' + 1) * 86400, lengths),
                        -(day - date '0001-01-01')) as reached
                from (
                    \(held("insight_day", "day", ("$7", "$8")))
                ) as held
                left join length on known = period
            ) as figure
            group by date_trunc($4::text, day::timestamp), length, reached, kind, step, \(cellNames)
            limit $9::bigint
            """)
}
