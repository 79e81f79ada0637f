import Postgres

import struct Foundation.Date

extension FigureReportStore {
    /// The statement that reads cohorts.
    /// - Parameter asOf: as of when the figures are.
    func retention(_ query: FigureReport.Query, asOf: Date?) -> Command {
        Command(
            Self.retention, query.environment.rawValue, query.bundleIds, asOf, query.interval.rawValue,
            query.dimensions.map(\.rawValue), query.kinds, query.days.lowerBound, query.days.upperBound,
            Int64(limit) + 1)
    }

    /// Purchases that began on days of a row for which the time of the same periods has come are one sum, of the first of
    /// these days, because sums of each day would be thousands for each storefront. The lengths are those of
    /// `BillingPeriod.longest`.
    static let retention = Statement(
        "figure-report-retention",
        unsafeSQL: """
            with recursive \(apps), held as materialized (
                \(held("insight_day", "day", ("$7", "$8")))
            ), age as (
                select day, period, extract(epoch from $3::timestamptz - (day + 1)::timestamp at time zone 'UTC') as seconds,
                    number * case right(period, 1) when 'M' then 1 when 'Y' then 12 else 0 end as months,
                    number * case right(period, 1) when 'D' then 1 when 'W' then 7 else 0 end as days
                from (
                    select day, period, substring(period from '[0-9]+')::bigint as number
                    from held
                    group by day, period
                ) as known
            ), cohort as (
                select day, period, min(day) over (partition by date_trunc($4::text, day::timestamp), period, reached) as first_day
                from age
                cross join lateral (
                    select count(*) as reached
                    from generate_series(0, \(Table.steps - 1)) as step
                    where seconds >= case $1::text
                        when 'Production' then (months * step / 12 * 366 + months * step % 12 * 31 + days * step) * 86400
                        else months * step * 300 + days * step * 180 / 7.0
                    end
                ) as time
            )
            select span, kind, step, \(cellNames), sum(amount)::bigint as amount,
                sum(revenuecat_amount)::bigint as revenuecat_amount, sum(purchases)::bigint as purchases,
                sum(count)::bigint as count
            from (
                select first_day::timestamp at time zone 'UTC' as span, kind, least(step, \(Table.steps))::bigint as step,
                    \(cell("$5")), amount, revenuecat_amount, purchases, count
                from held
                join cohort using (day, period)
            ) as figure
            group by span, kind, step, \(cellNames)
            limit $9::bigint
            """)
}
