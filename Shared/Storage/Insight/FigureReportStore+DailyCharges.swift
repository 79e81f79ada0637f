import Postgres

extension FigureReportStore {
    /// The statement that reads charges and refunds, day by day, with estimates of taxes and commission, in the currency of the report.
    func dailyCharges(_ query: FigureReport.Query) -> Command {
        Command(
            Self.dailyCharges,
            all: [
                query.environment.rawValue, query.bundleIds, query.days.lowerBound, query.interval.rawValue,
                query.dimensions.map(\.rawValue), query.kinds, query.days.upperBound, query.reportingCurrency,
                Int64(limit) + 1,
            ])
    }

    /// A refund takes back its tax and its commission. What has no rate of the day stays in its own currency; a rate counts for the days until the
    /// next one, at most seven. Amounts are added up exactly, and rounded once for each row, storefront, tax and commission.
    static let dailyCharges = Statement(
        "figure-report-daily-charges",
        unsafeSQL: """
            with recursive \(apps), tax as (
                select storefront, rate, from_day,
                    lead(from_day, 1, 'infinity') over (partition by storefront order by from_day) as until_day
                from tax_share
            ), membership as (
                select bundle_id, is_member, from_day,
                    lead(from_day, 1, 'infinity') over (partition by bundle_id order by from_day) as until_day
                from small_business
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
                    case when 'product' = any ($5::text[]) then product_id else '' end as product_id,
                    case when 'period' = any ($5::text[]) then period else '' end as period,
                    case when 'offer' = any ($5::text[]) then offer else '' end as offer,
                    sum(amount)::bigint as amount, sum(count)::bigint as count
                from (
                    \(held("insight_day", "day", ("$3", "$7")))
                ) as held
                group by 1, 2, 3, 4, 5, 6, 7, 8, 9
            ), exact as (
                select date_trunc($4::text, daily.day::timestamp) at time zone 'UTC' as span, daily.bundle_id, daily.storefront, kind,
                    product_id, period, offer, tax.rate,
                    case when trillionths is null then daily.currency else $8::text end as currency,
                    case when is_loyal or coalesce(is_member, false) then 15 else 30 end as percent,
                    round(sum(amount::numeric * coalesce(trillionths, 1000000000000)) / 1000000000000) as amount,
                    sum(count) as count
                from daily
                left join tax on tax.storefront = daily.storefront and daily.day >= tax.from_day and daily.day < tax.until_day
                left join membership on membership.bundle_id = daily.bundle_id and daily.day >= membership.from_day
                    and daily.day < membership.until_day
                left join worth on worth.currency = daily.currency and worth.day = daily.day
                group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
            ), taxed as (
                select *, round(amount * coalesce(rate, 0) / (100000 + coalesce(rate, 0))) as tax,
                    case kind when 'refund' then -1 when 'refundOfCharge' then 0 else 1 end as sign
                from exact
            )
            select span, kind, 0::bigint as step, \(cellNames), sum(amount)::bigint as amount, 0::bigint as revenuecat_amount,
                0::bigint as purchases, sum(count)::bigint as count
            from (
                select span, figure.kind, \(cell("$5")), figure.amount, figure.count
                from taxed
                cross join lateral (
                    values (case kind when 'loyalCharge' then 'charge' else kind end, amount, count),
                        ('tax', sign * tax, 0),
                        ('commission', sign * round((amount - tax) * percent / 100), 0),
                        ('withoutTaxShare', case when rate is null then sign * amount else 0 end, 0)
                ) as figure (kind, amount, count)
            ) as figure
            group by span, kind, \(cellNames)
            order by span, \(cellNames), kind
            limit $9::bigint
            """)
}
