import Postgres

extension FigureReportStore {
    /// The statement that reads charges and refunds with estimates of taxes and commission, each by the terms of its day, in the currency of
    /// the report.
    func charges(_ query: FigureReport.Query) -> Command {
        let sources = FigureSources(query)
        return Command(
            Self.charges,
            all: [
                query.environment.rawValue, query.bundleIds, query.days.lowerBound, query.interval.rawValue,
                query.dimensions.map(\.rawValue), query.kinds, query.days.upperBound, query.reportingCurrency,
                Int64(limit) + 1, sources.head.upperBound, sources.months.lowerBound, sources.months.upperBound,
                sources.tail.lowerBound,
            ])
    }

    /// A refund takes back its tax and its commission. What has no rate of the day stays in its own currency; a rate counts for the days until the
    /// next one, at most seven. Amounts are added up exactly, and rounded once for each row, storefront, tax and commission.
    ///
    /// Months are read as they were converted; days where a row begins or ends within a month, and where taxes or commission change within
    /// one.
    static let charges = Statement(
        "figure-report-charges",
        unsafeSQL: """
            with recursive \(apps), tax as (
                select storefront, rate, from_day,
                    lead(from_day, 1, 'infinity') over (partition by storefront order by from_day) as until_day
                from tax_share
            ), membership as (
                select bundle_id, is_member, from_day,
                    lead(from_day, 1, 'infinity') over (partition by bundle_id order by from_day) as until_day
                from small_business
            ), change as materialized (
                select null as app, storefront as place, date_trunc('month', from_day::timestamp)::date as month
                from tax_share
                where from_day <> date_trunc('month', from_day::timestamp)::date
                union all
                select bundle_id, null, date_trunc('month', from_day::timestamp)::date
                from small_business
                where from_day <> date_trunc('month', from_day::timestamp)::date
            ), worth as (
                select currency, rated.day + ahead as day, trillionths
                from (
                    select currency, day, trillionths, lead(day) over (partition by currency order by day) as next_day
                    from exchange_rate
                    where reporting_currency = $8::text and day > \(day("$3")) - 7 and day < \(day("$7"))
                ) as rated
                cross join generate_series(0, 6) as ahead
                where rated.day + ahead < coalesce(next_day, 'infinity')
            ), daily as materialized (
                select day, bundle_id, storefront, currency, kind, kind = 'loyalCharge' or step = 1 as is_loyal,
                    \(told("product_id", "product")), \(told("period")), \(told("offer")), sum(amount)::bigint as amount,
                    sum(count)::bigint as count
                from (
                    \(held("insight_day", "day", ("$3", "$10")))
                    union all
                    \(held("insight_day", "day", ("$13", "$7")))
                    union all
                    select held.*
                    from (
                        select distinct month
                        from change
                        where month >= \(day("$11")) and month < \(day("$12"))
                    ) as cut
                    cross join lateral (
                        \(held("insight_day", "day", ("$11", "$12"))) and day >= cut.month
                            and day < (cut.month + interval '1 month')::date
                        offset 0
                    ) as held
                    where exists (
                        select
                        from change
                        where change.month = cut.month and (app = held.bundle_id or place = held.storefront))
                ) as held
                group by 1, 2, 3, 4, 5, 6, 7, 8, 9
            ), monthly as (
                select month, bundle_id, storefront, currency, kind, kind = 'loyalCharge' or step = 1 as is_loyal,
                    \(told("product_id", "product")), \(told("period")), \(told("offer")), worth, count
                from (
                    select month, bundle_id, storefront, case when is_rated then reporting_currency else currency end as currency, kind,
                        step, product_id, period, offer, worth, count
                    from insight_converted
                    where reporting_currency = $8::text and environment = $1::text::store_environment
                        and bundle_id = any (coalesce($2::text[], array(select id from app where id is not null)))
                        and kind = any ($6::text[]) and month >= \(day("$11")) and month < \(day("$12"))
                    union all
                    select month, bundle_id, storefront, currency, kind, step, product_id, period, offer,
                        amount::numeric * 1000000000000, count
                    from (
                        \(held("insight_month", "month", ("$11", "$12")))
                            and not exists (select from exchange_rate where reporting_currency = $8::text)
                    ) as unrated
                ) as held
                where not exists (
                    select
                    from change
                    where change.month = held.month and (app = held.bundle_id or place = held.storefront))
            ), exact as (
                select date_trunc($4::text, figure.day::timestamp) at time zone 'UTC' as span, figure.bundle_id, figure.storefront, kind,
                    product_id, period, offer, tax.rate, currency,
                    case when is_loyal or coalesce(is_member, false) then 15 else 30 end as percent,
                    round(sum(worth) / 1000000000000) as amount, sum(count) as count
                from (
                    select daily.day, bundle_id, storefront, case when trillionths is null then daily.currency else $8::text end, kind,
                        is_loyal, product_id, period, offer, amount::numeric * coalesce(trillionths, 1000000000000), count
                    from daily
                    left join worth on worth.currency = daily.currency and worth.day = daily.day
                    union all
                    select month, bundle_id, storefront, currency, kind, is_loyal, product_id, period, offer, worth, count
                    from monthly
                ) as figure (day, bundle_id, storefront, currency, kind, is_loyal, product_id, period, offer, worth, count)
                left join tax on tax.storefront = figure.storefront and figure.day >= tax.from_day and figure.day < tax.until_day
                left join membership on membership.bundle_id = figure.bundle_id and figure.day >= membership.from_day
                    and figure.day < membership.until_day
                group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
            ), taxed as (
                select *, round(amount * coalesce(rate, 0) / (100000 + coalesce(rate, 0))) as tax,
                    case kind when 'refund' then -1 when 'refundOfCharge' then 0 else 1 end as sign
                from exact
            ), summed as (
                select span, case kind when 'loyalCharge' then 'charge' else kind end as kind, \(cell("$5")), sum(amount) as amount,
                    sum(count) as count, sum(sign * tax) as tax, sum(sign * round((amount - tax) * percent / 100)) as commission,
                    sum(case when rate is null then sign * amount else 0 end) as untaxed
                from taxed
                group by 1, 2, 3, 4, 5, 6, 7, 8
            )
            select span, figure.kind, 0::bigint as step, \(cellNames), figure.amount::bigint as amount,
                0::bigint as revenuecat_amount, 0::bigint as purchases, figure.count::bigint as count
            from summed
            cross join lateral (
                values (kind, amount, count), ('tax', tax, 0), ('commission', commission, 0), ('withoutTaxShare', untaxed, 0)
            ) as figure (kind, amount, count)
            where figure.amount <> 0 or figure.count <> 0
            limit $9::bigint
            """)

    /// A column of a dimension; empty where the report does not tell it apart.
    private static func told(_ column: String, _ dimension: String? = nil) -> String {
        "case when (select '\(dimension ?? column)' = any ($5::text[])) then \(column) else '' end as \(column)"
    }
}
