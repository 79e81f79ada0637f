import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date

/// Compares the figures with what transactions and access periods say at a moment, in one snapshot of the database.
package struct FigureCheck: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// A figure of a cell, computed in ways that must be equal. Thousandths of a unit of currency; trials and losses are counted. What was
    /// converted has a kind such as `charge in USD`, and is in thousandths of that currency.
    package struct Difference: Sendable, Hashable {
        /// The name of monthly revenue; the other kinds of figures are compared in days and months alone.
        package static let revenue = "mrr"

        package var environment: StoreEnvironment
        package var bundleId: String
        package var currency: String
        package var productId: String
        package var storefront: String
        package var kind = Self.revenue
        /// The paid periods that run.
        package var scanned: Int64 = 0
        /// The movements before the moment.
        package var moved: Int64 = 0
        /// The sums of the days before it.
        package var summed: Int64 = 0
        /// The sums of the months before its own, and of the days since.
        package var months: Int64 = 0

        fileprivate var isEqual: Bool {
            summed == months && (kind != Self.revenue || scanned == moved && moved == summed)
        }
    }

    /// The cells in which they are not equal.
    /// - Parameter end: the first moment of a day in UTC; all before it counts.
    package func differences(before end: Date) async throws -> [Difference] {
        try await connection.transaction(isolation: .repeatableRead) { transaction in
            var cells: [Difference: Difference] = [:]
            func add(_ row: Row, _ path: WritableKeyPath<Difference, Int64>, from column: String = "amount") throws {
                let cell = Difference(
                    environment: try StoreEnvironment(stored: row.value("environment")),
                    bundleId: try row.value("bundle_id"), currency: try row.value("currency"),
                    productId: try row.value("product_id"), storefront: try row.value("storefront"),
                    kind: try row.value("kind"))
                cells[cell, default: cell][keyPath: path] += try row.value(column, as: Int64.self)
            }
            for row in try transaction.execute(Self.moved, end) { try add(row, \.moved) }
            for row in try transaction.execute(Self.summed, end) { try add(row, \.summed) }
            for row in try transaction.execute(Self.months, end) { try add(row, \.months) }
            for row in try transaction.execute(Self.converted) {
                try add(row, \.summed, from: "days")
                try add(row, \.months, from: "months")
            }
            // What changed since its figures were computed, or is about to by the clock, counts as its figures say.
            for row in try transaction.execute(Self.waiting, end) { try add(row, \.scanned) }
            var last = ("Production", "")
            while true {
                let rows = try transaction.execute(Self.running, end, last.0, last.1, Int64(Self.page))
                let keys = try rows.map { row in
                    SubscriptionKey(
                        environment: try StoreEnvironment(stored: row.value("environment")),
                        originalTransactionId: try row.value("original_transaction_id"))
                }
                for (cell, amount) in try Self.scan(keys.sorted(), before: end, in: transaction) {
                    cells[cell, default: cell].scanned += amount
                }
                guard rows.count == Self.page, let key = keys.last else { break }
                last = (key.environment.rawValue, key.originalTransactionId)
            }
            return cells.values.filter { !$0.isEqual }.sorted {
                ($0.bundleId, $0.currency, $0.productId, $0.storefront, $0.environment.rawValue, $0.kind)
                    < ($1.bundleId, $1.currency, $1.productId, $1.storefront, $1.environment.rawValue, $1.kind)
            }
        }
    }

    private static let page = 2000

    private static func scan(
        _ keys: [SubscriptionKey], before end: Date, in transaction: PostgresTransaction
    ) throws -> [Difference: Int64] {
        guard !keys.isEmpty else { return [:] }
        let read = try transaction.pipeline([
            Command(FigureStore.apps, keys.map(\.environment.rawValue), keys.map(\.originalTransactionId)),
            TransactionStore.command(transactionsOf: keys), AccessPeriodStatements.command(periodsOf: keys),
            Command(FigureStore.extended, keys.map(\.environment.rawValue), keys.map(\.originalTransactionId)),
        ])
        let transactions = Dictionary(grouping: try read[1].map { row in try StoredTransaction.read(row) }, by: \.key)
        let periods = Dictionary(grouping: try read[2].map { row in try AccessPeriodRow.read(row) }, by: \.key)
        let ends = try FigureStore.nominalEnds(read[3])
        var sums: [Difference: Int64] = [:]
        for row in read[0] {
            let key = SubscriptionKey(
                environment: try StoreEnvironment(stored: row.value("environment")),
                originalTransactionId: try row.value("original_transaction_id"))
            let bundleId: String = try row.value("bundle_id")
            let revenue = RevenuePeriod.all(
                (transactions[key] ?? []).map(\.version.facts),
                access: (periods[key] ?? []).compactMap(AccessPeriod.init),
                in: key.environment, nominalEnds: ends[key] ?? [:])
            for period in revenue where period.startsAt < end && period.endsAt.map({ end <= $0 }) ?? true {
                let cell = Difference(
                    environment: key.environment, bundleId: bundleId, currency: period.cell.currency,
                    productId: period.cell.productId, storefront: period.cell.storefront)
                sums[cell, default: 0] += period.value.amount
            }
        }
        return sums
    }

    /// Keeps the outcome of a check.
    package func record(differences: Int, at now: Date) async throws {
        _ = try await connection.execute(Self.record, now, Int64(differences))
    }

    static let statements = [moved, summed, months, converted, waiting, running, record]

    private static let cell = "environment::text as environment, bundle_id, currency, product_id, storefront"

    private static let moved = Statement(
        "figure-check-moved",
        unsafeSQL: """
            select \(cell), 'mrr' as kind, sum(amount)::bigint as amount
            from mrr_movement
            where at < $1::timestamptz
            group by environment, bundle_id, currency, product_id, storefront
            """)

    private static let summed = Statement(
        "figure-check-summed",
        unsafeSQL: """
            select \(cell), \(kind) as kind, \(value) as amount
            from (\(days)) as held
            group by environment, bundle_id, currency, product_id, storefront, \(kind)
            """)

    private static let months = Statement(
        "figure-check-months",
        unsafeSQL: """
            select \(cell), \(kind) as kind, \(value) as amount
            from (
                select environment, bundle_id, currency, product_id, storefront, kind, amount, count,
                    count + count_to_8 + count_to_16 + count_to_24 as counts
                from insight_month
                where month < date_trunc('month', $1::timestamptz at time zone 'UTC')
                union all
                \(days) and day >= date_trunc('month', $1::timestamptz at time zone 'UTC')
            ) as held
            group by environment, bundle_id, currency, product_id, storefront, \(kind)
            """)

    private static let days = """
        select environment, bundle_id, currency, product_id, storefront, kind, amount, count,
            count * (1 + (extract(day from day) <= 8)::integer + (extract(day from day) <= 16)::integer
                + (extract(day from day) <= 24)::integer) as counts
        from insight_day
        where kind <> 'lostInDay' and day < ($1::timestamptz at time zone 'UTC')::date
        """

    /// Movements are one figure, because they add up to it.
    private static let kind = """
        case when kind in ('new', 'expansion', 'contraction', 'churn', 'reactivation') then 'mrr' else kind end
        """
    /// Trials and losses have no amount; nor has retention, of which the first 8, 16 and 24 days of months are compared, too.
    private static let value = """
        sum(
            case
                when kind in ('lostInMonth', 'trialRunning', 'trialEnded', 'trialPaid') then count
                when kind in ('periods', 'resubscribedPeriods', 'unbrokenPeriods') then counts
                else amount
            end)::bigint
        """

    /// The cells of which converted months are not the days by their rates. A difference of less than a thousandth counts as one.
    private static let converted = Statement(
        "figure-check-converted",
        unsafeSQL: """
            with worth as materialized (
                select reporting_currency, currency, rated.day + ahead as day, trillionths
                from (
                    select reporting_currency, currency, day, trillionths,
                        lead(day) over (partition by reporting_currency, currency order by day) as next_day
                    from exchange_rate
                ) as rated
                cross join generate_series(0, 6) as ahead
                where rated.day + ahead < coalesce(next_day, 'infinity')
            ), compared as (
                select environment, bundle_id, kind, month, step, currency, product_id, storefront, period, offer, reporting_currency,
                    is_rated, sum(days) as days, sum(months) as months, sum(counted) as counted
                from (
                    select environment, bundle_id, kind, date_trunc('month', day::timestamp)::date as month, step, currency, product_id,
                        storefront, period, offer, reporting_currency, trillionths is not null as is_rated,
                        amount::numeric * coalesce(trillionths, 1000000000000) as days, 0 as months, -count as counted
                    from insight_day
                    cross join (select distinct reporting_currency from exchange_rate) as reporting
                    left join worth using (reporting_currency, currency, day)
                    where kind in ('charge', 'loyalCharge', 'refund', 'refundOfCharge')
                    union all
                    select environment, bundle_id, kind, month, step, currency, product_id, storefront, period, offer,
                        reporting_currency, is_rated, 0, worth, count
                    from insight_converted
                ) as held
                group by environment, bundle_id, kind, month, step, currency, product_id, storefront, period, offer,
                    reporting_currency, is_rated
                having sum(days) <> sum(months) or sum(counted) <> 0
            )
            select \(cell), kind || ' in ' || reporting_currency as kind, sum(shown)::bigint as days,
                sum(
                    shown + case
                        when months > days then ceil((months - days) / 1000000000000)
                        when months < days then floor((months - days) / 1000000000000)
                        else counted
                    end)::bigint as months
            from (select *, round(days / 1000000000000) as shown from compared) as found
            group by environment, bundle_id, currency, product_id, storefront, kind, reporting_currency
            """)

    /// Sums the purchases that `running` leaves out; there are few of them, so their movements are looked up.
    private static let waiting = Statement(
        "figure-check-waiting",
        unsafeSQL: """
            with waiting as materialized (
                select environment, original_transaction_id
                from insight_change
                union
                select environment, original_transaction_id
                from insight_purchase
                where next_at < $1::timestamptz
            )
            select \(cell), 'mrr' as kind, sum(amount)::bigint as amount
            from waiting
            join mrr_movement using (environment, original_transaction_id)
            where at < $1::timestamptz
            group by environment, bundle_id, currency, product_id, storefront
            """)

    /// Apple signs one moment with and without a fraction of a second, so a period that ended within the last second may still count.
    /// Offset 0 makes the planner look up each purchase of the page; a join would read the tables from their beginning for every page.
    private static let running = Statement(
        "figure-check-running",
        """
        select place::text as environment, original_transaction_id
        from (
            select distinct environment as place, original_transaction_id
            from access_period purchase
            where reason = 'transaction' and lower(period) < $1::timestamptz
                and (upper_inf(period) or upper(period) > $1::timestamptz - interval '1 second')
                and (environment, original_transaction_id) > ($2::text::store_environment, $3::text)
                and not exists (
                    select
                    from insight_change change
                    where change.environment = purchase.environment
                        and change.original_transaction_id = purchase.original_transaction_id
                    offset 0)
                and not exists (
                    select
                    from insight_purchase due
                    where due.environment = purchase.environment
                        and due.original_transaction_id = purchase.original_transaction_id
                        and due.next_at < $1::timestamptz
                    offset 0)
            order by environment, original_transaction_id
            limit $4::bigint
        ) as page
        order by place, original_transaction_id
        """)

    private static let record = Statement(
        "figure-check-record",
        "update insight_position set checked_at = $1::timestamptz, differences = $2::bigint")
}
