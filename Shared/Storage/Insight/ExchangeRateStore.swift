import Postgres

import struct Foundation.Date

/// The exchange rates that operators load.
package struct ExchangeRateStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// Stores rates; a rate of the same currencies and day is replaced.
    /// - Parameters:
    ///   - rates: at most one for each currency and day.
    ///   - source: whose rates they are.
    /// - Returns: number of rates that are new or other than before.
    package func load(
        _ rates: [ExchangeRate], into reportingCurrency: String, from source: String, at now: Date,
        audit: OperatorAction
    ) async throws -> Int {
        try await repeating {
            try await connection.transaction { transaction in
                try transaction.pipeline([
                    Command(
                        Self.load, now, reportingCurrency, source, rates.map(\.day), rates.map(\.currency),
                        rates.map(\.trillionths)),
                    OperatorActionStore.command(recording: [audit]),
                ])[0].affected
            }
        }
    }

    /// The rates of one currency from one source.
    package struct Held: Sendable, Equatable {
        package var reportingCurrency: String
        package var currency: String
        package var source: String
        /// The first and the last day that has a rate.
        package var firstDay: Date
        package var lastDay: Date
        /// Number of rates.
        package var rates: Int64
    }

    /// The rates that are loaded, by reporting currency, currency and source.
    package func held() async throws -> [Held] {
        try await connection.execute(Self.held).map { row in
            Held(
                reportingCurrency: try row.value("reporting_currency"), currency: try row.value("currency"),
                source: try row.value("source"), firstDay: try row.value("first_day"),
                lastDay: try row.value("last_day"), rates: try row.value("rates"))
        }
    }

    static let statements = [load, held]

    private static let load = Statement(
        "exchange-rates-load",
        """
        insert into exchange_rate as held (loaded_at, trillionths, day, reporting_currency, currency, source)
        select $1::timestamptz, trillionths, (day at time zone 'UTC')::date, $2::text, currency, $3::text
        from unnest($4::timestamptz[], $5::text[], $6::bigint[]) as given (day, currency, trillionths)
        on conflict (reporting_currency, currency, day) do update
        set loaded_at = excluded.loaded_at, trillionths = excluded.trillionths, source = excluded.source
        where (held.trillionths, held.source) is distinct from (excluded.trillionths, excluded.source)
        """)

    private static let held = Statement(
        "exchange-rates-held",
        """
        select reporting_currency, currency, source, min(day)::timestamp at time zone 'UTC' as first_day,
            max(day)::timestamp at time zone 'UTC' as last_day, count(*) as rates
        from exchange_rate
        group by reporting_currency, currency, source
        order by reporting_currency, currency, source
        """)
}
