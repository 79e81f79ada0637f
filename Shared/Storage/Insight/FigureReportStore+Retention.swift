import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date

extension FigureReportStore {
    /// The statement that reads cohorts.
    /// - Parameter asOf: as of when the figures are. Until they are complete no sum is shown, so the time of none has come.
    func retention(_ query: FigureReport.Query, asOf: Date?) -> Command {
        let periods = Self.periods
        let sources = FigureSources(query)
        return Command(
            Self.retention,
            all: [
                query.environment.rawValue, query.bundleIds, asOf?.timeIntervalSince1970 ?? 0, query.interval.rawValue,
                query.dimensions.map(\.rawValue), query.kinds, sources.head.lowerBound, sources.head.upperBound,
                sources.months.lowerBound, sources.months.upperBound, sources.tail.lowerBound, sources.tail.upperBound,
                Int64(limit) + 1, periods.map(\.description),
                periods.flatMap { period in
                    (0..<Int64(Table.steps)).map { period.longest($0, in: query.environment) }
                },
            ])
    }

    /// Those that Apple offers. Any other one is told apart by day.
    private static let periods = ["P3D", "P1W", "P2W", "P1M", "P2M", "P3M", "P6M", "P1Y"].compactMap(BillingPeriod.init)

    /// Purchases that began on days of a row for which the time of the same periods has come are one sum, of the first of
    /// these days, because sums of each day would be thousands for each storefront.
    ///
    /// Each of several such sums of a month is the difference of what the month has up to the sum's last day and up to the day before its
    /// first. That is read from the nearest of the month's columns, and the days between.
    static let retention = Statement(
        "figure-report-retention",
        unsafeSQL: """
            with recursive \(apps), length as materialized (
                select known, ($15::double precision[])[(place - 1) * \(Table.steps) + 1 : place * \(Table.steps)] as lengths
                from unnest($14::text[]) with ordinality as given (known, place)
            ), monthly as materialized (
                \(held("insight_month", "month", ("$9", "$10"), sums: "count, count_to_8, count_to_16, count_to_24"))
            ), place as materialized (
                select month, period, lengths
                from (select distinct month, period from monthly) as present
                left join length on known = period
            ), span as materialized (
                select month, period, last,
                    coalesce(lag(last) over (partition by month, period order by last) + 1, month) as first
                from (
                    select month, period, (month + interval '1 month')::date - 1 as last
                    from place
                    union
                    select month, period, day
                    from place
                    cross join lateral unnest(lengths) as length
                    cross join lateral (
                        select date '1970-01-01' + floor(($3::double precision - length) / 86400)::integer - 1 as day
                    ) as boundary
                    where day >= month and day < (month + interval '1 month')::date
                    union
                    select month, period, month + number
                    from place
                    cross join generate_series(0, 30) as number
                    where lengths is null and month + number < (month + interval '1 month')::date
                ) as boundary
            ), bound as materialized (
                select month, period, first, sign, size, least((size + 4) / 8 * 8, month_size) as nearest
                from (
                    select month, period, first, last - month + 1 as size, 1 as sign,
                        (month + interval '1 month')::date - month as month_size
                    from span
                    union all
                    select month, period, first, first - month, -1, (month + interval '1 month')::date - month
                    from span
                    where first > month
                ) as one
            ), gap as materialized (
                select month + number - 1 as day, period, first, case when size > nearest then sign else -sign end as sign
                from bound
                cross join lateral generate_series(least(size, nearest) + 1, greatest(size, nearest)) as number
            )
            select min(day)::timestamp at time zone 'UTC' as span, kind, step, \(cellNames), 0::bigint as amount,
                0::bigint as revenuecat_amount, 0::bigint as purchases, sum(count)::bigint as count
            from (
                select day, kind, least(step, \(Table.steps))::bigint as step, \(cell("$5")), period as length, count,
                    coalesce(
                        width_bucket($3::double precision - (day - date '1970-01-01' + 1) * 86400, lengths),
                        -(day - date '0001-01-01')) as reached
                from (
                    select first as day, \(keyColumns),
                        sign * case nearest when 0 then 0 when 8 then count_to_8 when 16 then count_to_16 when 24 then count_to_24
                            else count end as count
                    from monthly
                    join bound using (month, period)
                    union all
                    select first, \(keyColumns), sign * count
                    from (select distinct day as asked from gap) as one
                    cross join lateral (
                        select day, \(keyColumns), count
                        from insight_day
                        where \(scope) and day = asked
                        offset 0
                    ) as daily
                    join gap using (day, period)
                    union all
                    \(held("insight_day", "day", ("$7", "$8"), sums: "count"))
                    union all
                    \(held("insight_day", "day", ("$11", "$12"), sums: "count"))
                ) as held
                left join length on known = period
            ) as figure
            group by date_trunc($4::text, day::timestamp), length, reached, kind, step, \(cellNames)
            having sum(count) <> 0
            limit $13::bigint
            """)
}
