import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date

extension FigureReportStore {
    /// Purchases of one currency in a grace period: Apple retries their charge, and monthly revenue does not count them meanwhile.
    package struct Grace: Sendable, Equatable {
        /// ISO 4217 code; empty where Apple did not say.
        package var currency: String
        /// What they paid last, divided by its months; thousandths of a unit of currency.
        package var amount: Int64
        package var purchases: Int64
    }

    /// The purchases of an app whose grace period contains the moment, by currency.
    package func grace(
        in environment: StoreEnvironment, of bundleId: String, at moment: Date
    ) async throws -> [Grace] {
        var found: [String: Grace] = [:]
        for row in try await connection.execute(Self.inGrace, environment.rawValue, bundleId, moment) {
            let currency: String = try row.value("currency")
            let (price, purchases): (Int64, Int64) = (try row.value("price_milliunits"), try row.value("purchases"))
            let monthly = try row.optional("period", as: Double.self)
                .flatMap { PurchasePrices.monthly(price, of: $0, in: environment) }
            let before = found[currency] ?? Grace(currency: currency, amount: 0, purchases: 0)
            found[currency] = Grace(
                currency: currency, amount: before.amount + (monthly ?? price) * purchases,
                purchases: before.purchases + purchases)
        }
        return found.values.sorted { $0.currency < $1.currency }
    }

    /// Offset 0 makes the planner look up each purchase; a join would read all of them for each period until the tables are analyzed.
    static let inGrace = Statement(
        "figure-report-grace",
        """
        select currency, price_milliunits, extract(epoch from expires_at - purchased_at)::double precision as period,
            count(*) as purchases
        from access_period given
        cross join lateral (
            select coalesce(currency, '') as currency, coalesce(price_milliunits, 0) as price_milliunits, expires_at,
                purchased_at
            from subscription
            where environment = given.environment and original_transaction_id = given.original_transaction_id
                and bundle_id = $2::text and coalesce(ownership, '') not in ('FAMILY_SHARED', 'ASSIGNED')
            offset 0
        ) as held
        where environment = $1::text::store_environment and reason = 'gracePeriod' and upper(period) > $3::timestamptz
            and $3::timestamptz <@ period
        group by currency, price_milliunits, 3
        """)
}
