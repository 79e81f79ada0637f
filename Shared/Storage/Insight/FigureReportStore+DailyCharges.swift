import Postgres

extension FigureReportStore {
    /// What was charged and refunded, day by day, with estimates of taxes and commission, in the currency of the report.
    func dailyCharges(_ query: FigureReport.Query) -> Command {
        Command(
            Self.dailyCharges,
            all: [
                query.environment.rawValue, query.bundleIds, query.days.lowerBound, query.interval.rawValue,
                query.dimensions.map(\.rawValue), query.kinds, query.days.upperBound, query.reportingCurrency,
                Int64(limit) + 1,
            ])
    }

    /// Each sum of a day and cell is rounded once for each of its figures, so that reports by any dimensions add up to the same.
    ///
    /// A refund takes back its tax and its commission. Where there is no rate of the day, a sum stays in its own currency. A rate counts for the
    /// days until the next one, at most seven.
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
            ), charged as (
                select held.day, held.bundle_id, product_id, held.storefront, held.currency, period, offer, kind, amount, count,
                    case kind when 'refund' then -1 when 'refundOfCharge' then 0 else 1 end as sign, trillionths,
                    tax.rate is null as is_without_share,
                    round(amount::numeric * coalesce(tax.rate, 0) / (100000 + coalesce(tax.rate, 0))) as tax,
                    case when kind = 'loyalCharge' or step = 1 or coalesce(is_member, false) then 15 else 30 end as percent
                from (
                    \(held("insight_day", "day", ("$3", "$7")))
                ) as held
                left join tax on tax.storefront = held.storefront and held.day >= tax.from_day and held.day < tax.until_day
                left join membership on membership.bundle_id = held.bundle_id and held.day >= membership.from_day
                    and held.day < membership.until_day
                left join worth on worth.currency = held.currency and worth.day = held.day
            ), figure as (
                select date_trunc($4::text, day::timestamp) at time zone 'UTC' as span, figure.kind, bundle_id, product_id,
                    storefront, period, offer, figure.count,
                    case when trillionths is null then currency else $8::text end as currency,
                    case when trillionths is null then figure.amount
                        else round(figure.amount * trillionths / 1000000000000) end as amount
                from charged
                cross join lateral (
                    values (case kind when 'loyalCharge' then 'charge' else kind end, amount::numeric, count),
                        ('tax', sign * tax, 0),
                        ('commission', sign * round((amount - tax) * percent / 100), 0),
                        ('withoutTaxShare', case when is_without_share then sign * amount else 0 end, 0)
                ) as figure (kind, amount, count)
            )
            select span, kind, 0::bigint as step, \(cellNames), sum(amount)::bigint as amount, 0::bigint as revenuecat_amount,
                0::bigint as purchases, sum(count)::bigint as count
            from (
                select span, kind, \(cell("$5")), amount, count
                from figure
            ) as figure
            group by span, kind, \(cellNames)
            order by span, \(cellNames), kind
            limit $9::bigint
            """)
}
