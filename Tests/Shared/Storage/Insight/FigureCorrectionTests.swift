import Foundation
import TestSupport
import Testing

@testable import Storage

/// The list of what purchases changed after a day was reported.
@Suite struct FigureCorrectionTests {
    private static func date(_ text: String) throws -> Date {
        try Date.ISO8601FormatStyle().year().month().day().parse(text)
    }

    @Test(arguments: [1, 2, 100])
    func `A list of corrections has each of its apps and days once, the newest first, page by page`(
        limit: Int
    ) async throws {
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            // Apps are those that have figures. Those of one moment are told apart by their order.
            try await connection.run(
                unsafeScript: """
                    insert into insight_day (amount, revenuecat_amount, purchases, count, day, step, environment, bundle_id, kind,
                        currency, product_id, storefront, period, offer)
                    select 1, 1, 1, 1, '2026-01-10', 0, 'Production', app, 'new', 'EUR', 'gold', 'DEU', 'P1M', ''
                    from unnest(array['a', 'b']) as app;
                    insert into insight_correction (corrected_at, amount, count, day, environment, bundle_id, original_transaction_id,
                        kind, currency)
                    select '2026-02-01', 1, 1, day::date, environment::store_environment, app, purchase, 'charge', 'EUR'
                    from (values ('2026-01-10', 'Production', 'a', '1'), ('2026-01-11', 'Production', 'b', '2'),
                        ('2026-01-10', 'Production', 'a', '1'), ('2026-01-10', 'Production', 'b', '3'),
                        ('2026-01-09', 'Production', 'a', '4'), ('2026-01-08', 'Production', 'a', 'before'),
                        ('2026-01-12', 'Production', 'b', 'after'), ('2026-01-10', 'Sandbox', 'a', 'sandbox'))
                        as given (day, environment, app, purchase)
                    """)
            let store = FigureReportStore(connection)
            let days = try Self.date("2026-01-09")..<Self.date("2026-01-12")
            for (apps, expected) in [
                (nil, ["2", "3", "1", "1", "4"]), (["a", "b", "a"], ["2", "3", "1", "1", "4"]),
                (["a"], ["1", "1", "4"]), (["c"], []),
            ] as [([String]?, [String])] {
                var found: [FigureCorrection] = []
                repeat {
                    let page = try await store.corrections(
                        in: .production, of: apps, during: days, after: found.last?.position, limit: limit)
                    found += page
                    guard page.count == limit else { break }
                } while found.count < 10
                #expect(found.map(\.key.originalTransactionId) == expected, "\(apps ?? [])")
            }
            // A place behind the last day is no way to see more.
            let later = FigureCorrection.Position(day: try Self.date("2026-02-01"), id: .max)
            let first = try await store.corrections(
                in: .production, of: nil, during: days, after: later, limit: 1)
            #expect(first.map(\.key.originalTransactionId) == ["2"])
        }
    }
}
