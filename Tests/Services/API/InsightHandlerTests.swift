import Foundation
import Storage
import StrictJSON
import TestSupport
import Testing

@testable import API

/// Figures of revenue through the API.
@Suite(.hangLimit) struct InsightHandlerTests {
    @Test func `A report is of the key's apps and environment, and needs its scope`() async throws {
        try await RunningAPI.with { api async throws in
            let connection = TestDatabase.connection(api.database)
            try await connection.run(
                unsafeScript: """
                    insert into insight_day (amount, revenuecat_amount, purchases, count, day, step, environment, bundle_id, kind,
                        currency, product_id, storefront, period, offer)
                    select 9990, 9990, 1, 1, '2026-01-10', 0, environment::store_environment, app, 'new', 'EUR', 'gold', 'DEU', 'P1M', ''
                    from unnest(array['Production', 'Sandbox', 'Sandbox'], array['\(SampleState.app)', '\(SampleState.app)', 'other'])
                        as given (environment, app)
                    """)
            let path = "/v1/insight/mrr?from=2026-01-01&to=2026-02-01"
            let key = try await api.key(bundleIds: [SampleState.app])
            let answer = try await api.get(path + "&by=storefront,app", key: key)
            #expect(answer.status == 200)
            let rows = answer.json?["data"]?.elements ?? []
            #expect(rows.count == 1 && rows[0]["amount"]?.int64 == 9990 && rows[0]["storefront"]?.string == "DEU")
            #expect(rows[0]["app"]?.string == SampleState.app && rows[0]["currency"]?.string == "EUR")
            #expect(rows[0]["isComplete"]?.bool == false && rows[0]["from"]?.string == "2026-01-01")
            let all = try await api.get(path, key: try await api.key())
            #expect(all.json?["data"]?.elements.first?["amount"]?.int64 == 19_980)
            #expect(try await api.get(path + "&bundleId=other", key: key).problem == "app-not-allowed")
            #expect(try await api.get(path, key: try await api.key(scopes: [.eventsRead])).status == 403)
            try await connection.run(
                unsafeScript: """
                    insert into exchange_rate (loaded_at, trillionths, day, reporting_currency, currency, source)
                    values (now(), 2000000000000, '2026-01-31', 'USD', 'EUR', 'the bank')
                    """)
            let converted = try await api.get(path + "&currency=USD", key: key)
            #expect(
                converted.json?["currency"]?.string == "USD" && converted.json?["unconverted"]?.elements.isEmpty == true
            )
            let rates = converted.json?["rates"]?.elements ?? []
            #expect(rates.count == 1 && rates[0]["source"]?.string == "the bank")
            #expect(rates.first?["from"]?.string == "2026-01-31" && rates.first?["currency"]?.string == "EUR")
            let row = converted.json?["data"]?.elements.first
            #expect(row?["amount"]?.int64 == 19_980 && row?["currency"]?.string == "USD")
            let yen = try await api.get(path + "&currency=JPY", key: key)
            #expect(yen.json?["unconverted"]?.elements.first?.string == "EUR")
            #expect(try await api.get(path + "&currency=yen", key: key).status == 400)
            for report in FigureReport.Name.allCases {
                #expect(try await api.get("/v1/insight/\(report.rawValue)", key: key).status == 200)
            }
            // A product each, in more rows than an answer may have.
            try await connection.run(
                unsafeScript: """
                    set statement_timeout = 0;
                    insert into insight_day (amount, revenuecat_amount, purchases, count, day, step, environment, bundle_id, kind,
                        currency, product_id, storefront, period, offer)
                    select 9990, 9990, 1, 1, '2026-01-10', 0, 'Sandbox', '\(SampleState.app)', 'new', 'EUR', product::text, 'DEU',
                        'P1M', ''
                    from generate_series(1, 100001) as product
                    """)
            let large = try await api.get(path + "&by=product", key: key)
            #expect(large.status == 400 && large.problem == "invalid-request")
            #expect(large.json?["detail"]?.string?.contains("fewer dimensions") == true)
            #expect(try await api.get(path + "&by=app", key: key).status == 200)
            #expect(try await api.get("/v1/insight/profit", key: key).status == 400)
            #expect(try await api.get(path + "&by=color", key: key).status == 400)
            await connection.close()
        }
    }
}
