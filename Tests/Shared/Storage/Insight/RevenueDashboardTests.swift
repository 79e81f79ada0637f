import Foundation
import Postgres
import TestSupport
import Testing

@testable import Storage

/// The dashboard `Deploy/grafana/revenue.json`, with the rights of the role that its data source has.
@Suite struct RevenueDashboardTests {
    private struct Dashboard: Decodable {
        struct Panel: Decodable {
            struct Target: Decodable { var rawSql: String }

            var title: String
            var targets: [Target]
        }

        var panels: [Panel]
    }

    private static let file = URL(filePath: #filePath).appending(
        path: "../../../../../Deploy/grafana/revenue.json"
    ).standardizedFileURL

    /// Three purchases at 8.00 EUR began to pay three months ago, and one of them left this month.
    private static let contents = """
        insert into insight_day (amount, revenuecat_amount, purchases, count, day, step, environment, bundle_id, kind,
            currency, product_id, storefront, period, offer)
        select amount, amount, purchases, 1, (date_trunc('month', now() at time zone 'UTC') - ago)::date,
            case kind when 'lostInMonth' then -1 else 0 end, 'Production',
            'com.example.app', kind, 'EUR', 'gold', 'DEU', 'P1M', ''
        from (values ('new', 24000, 3, interval '3 months'), ('churn', -8000, -1, interval '0'),
            ('lostInMonth', 0, 0, interval '0'), ('refund', 5000, 0, interval '0'),
            ('trialPaid', 0, 0, interval '0'), ('trialEnded', 0, 0, interval '0')) as given (kind, amount, purchases, ago)
        """

    @Test func `The dashboard of revenue shows an analyst six numbers by month`() async throws {
        let panels = try JSONDecoder().decode(Dashboard.self, from: try Data(contentsOf: Self.file)).panels
        try await TestDatabase.use { database async throws in
            let owner = TestDatabase.connection(database)
            #expect(try await Grants(owner).apply() == [])
            try await owner.run(unsafeScript: Self.contents)
            var own = database
            own.url += "?options=-crole%3Dstorekeeper_analyst"
            let analyst = TestDatabase.connection(own)
            var newest: [String: String] = [:]
            for panel in panels {
                let sql = panel.targets[0].rawSql
                    .replacing("${environment:sqlstring}", with: "'Production'")
                    .replacing("${app:sqlstring}", with: "'com.example.app'")
                // As Grafana reads it: a time, the name of a line and a number.
                let rows = try await analyst.execute(
                    Statement(
                        unsafeSQL: """
                            select metric, round(value::numeric, 4)::text as value, time::timestamptz = date_trunc('month', now() at time zone 'UTC')
                                at time zone 'UTC' as is_newest
                            from (\(sql)) as panel
                            """))
                for row in rows where try row.value("is_newest") {
                    newest[panel.title] = try
                        "\(row.value("metric", as: String.self)) \(row.value("value", as: String.self))"
                }
                #expect([1, 2, 13].contains(rows.count), "\(panel.title): \(rows.count)")
            }
            #expect(
                newest == [
                    "Paying purchases": "paying 2.0000", "Monthly revenue": "EUR 16.0000",
                    "Movements of monthly revenue": "churn EUR -8.0000", "Customers who left": "left 0.3333",
                    "Trials that were paid": "paid 0.5000", "Refunded": "EUR 5.0000",
                ])
            await analyst.close()
            await owner.close()
        }
    }
}
