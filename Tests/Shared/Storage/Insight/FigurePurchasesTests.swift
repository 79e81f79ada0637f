import Contracts
import Foundation
import Postgres
import Subscriptions
import TestSupport
import Testing

@testable import Storage

/// The purchases behind rows of reports: of a few purchases whose figures are computed by hand, and of random ones.
@Suite struct FigurePurchasesTests {
    private typealias Reports = FigureReportStoreTests

    /// Day, purchase, step, amount, count.
    private static func lines(_ parts: [PurchasePart]) -> [String] {
        parts.map { part in
            let day = part.position.day.formatted(Date.ISO8601FormatStyle().month().day().dateSeparator(.dash))
            return "\(day) \(part.key.originalTransactionId) \(part.step) \(part.amount) \(part.count)"
        }
    }

    /// One or two are many, so that days are read in order, a part for each page.
    @Test(arguments: [1, 2, 5_000])
    func `Charges, refunds, movements, trials and cohorts lead to their purchases, the newest first`(
        many: Int
    ) async throws {
        try await Reports.use { _, connection async throws in
            let store = FigureReportStore(connection, many: many)
            let days = try Reports.date("2026-01-01")..<Reports.date("2026-04-01")
            func parts(
                _ kinds: PurchaseFigures.Kind..., in cells: [FigureReport.Dimension: String] = [:], limit: Int = 100
            ) async throws -> [String] {
                Self.lines(
                    try await store.purchases(
                        behind: kinds, in: .production, of: [Reports.app], during: days, cells: cells, limit: limit))
            }
            let charged = [
                "03-10 1 0 25000 1", "03-05 2 0 10000 1", "02-10 1 0 10000 1", "02-01 3 0 10000 1", "01-20 2 0 10000 1",
                "01-13 5 0 10000 1", "01-10 1 0 10000 1",
            ]
            #expect(try await parts(.charge, .loyalCharge) == charged)
            #expect(try await parts(.charge, .loyalCharge, limit: 3) == Array(charged.prefix(3)))
            #expect(try await parts(.charge, in: [.product: "platinum", .period: "P1M"]) == [charged[0]])
            #expect(try await parts(.charge, in: [.currency: "USD"]) == [])
            #expect(try await parts(.refund) == ["02-11 3 0 10000 1"])
            #expect(try await parts(.refundOfCharge) == ["02-01 3 0 10000 1"])
            #expect(try await parts(.churn) == ["02-20 2 0 -10000 1", "02-13 5 0 -10000 1", "02-11 3 0 -10000 1"])
            #expect(try await parts(.expansion) == ["03-10 1 0 -10000 0", "03-10 1 0 25000 1"])
            #expect(try await parts(.trialEnded, .trialPaid) == ["01-06 5 7 0 1", "01-05 4 0 0 1"])
            #expect(try await parts(.trialPaid, in: [.offer: "introductory"]) == ["01-06 5 7 0 1"])
            // A trial is no paid period.
            #expect(try await parts(.periods).suffix(3) == ["01-20 2 2 0 1", "01-13 5 1 0 1", "01-10 1 3 0 1"])
            let elsewhere = try await store.purchases(
                behind: [.charge], in: .production, of: ["com.example.another"], during: days, limit: 9)
            #expect(elsewhere.isEmpty)
            let sandbox = try await store.purchases(
                behind: [.charge], in: .sandbox, of: nil, during: days, limit: 9)
            #expect(sandbox.isEmpty)
        }
    }

    @Test(arguments: 1...2 as ClosedRange<UInt64>, [4, 5_000])
    func `Pages of any length are the whole list, also while many purchases are of a day`(
        seed: UInt64, many: Int
    ) async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            var fixtures = Fixtures(seed: seed)
            _ = try await LedgerStore(connection).apply(
                fixtures.entries(100, purchases: 8), moving: [], recordedAt: Fixtures.now)
            let now = try Reports.date("2025-10-13")
            while try await FigureStore(connection).update(at: now) {}
            let days = try Reports.date("2025-06-01")..<Reports.date("2025-10-05")
            for report in FigureReport.Name.allCases {
                func read(_ many: Int, after position: PurchasePart.Position? = nil, limit: Int) async throws
                    -> [PurchasePart]
                {
                    try await FigureReportStore(connection, many: many).purchases(
                        behind: report.kinds, in: .production, of: nil, during: days, after: position, limit: limit)
                }
                let all = try await read(100_000, limit: 10_000)
                #expect(all.map(\.position.day) == all.map(\.position.day).sorted(by: >))
                for limit in [1, 10] {
                    var (found, page) = ([PurchasePart](), try await read(many, limit: limit))
                    while !page.isEmpty {
                        found += page
                        page = try await read(many, after: page.last?.position, limit: limit)
                    }
                    #expect(found == all, "\(report) by \(limit)")
                }
            }
        }
    }

    @Test(arguments: 1...2 as ClosedRange<UInt64>)
    func `What purchases add to a row is its figures, by any two dimensions`(seed: UInt64) async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            var fixtures = Fixtures(seed: seed)
            let entries = fixtures.entries(240, purchases: 12)
            _ = try await LedgerStore(connection).apply(
                Array(entries.prefix(120)), moving: [], recordedAt: Fixtures.now)
            let now = try Reports.date("2025-10-13")
            while try await FigureStore(connection).update(at: now) {}
            _ = try await LedgerStore(connection).apply(entries, moving: [], recordedAt: Fixtures.now)
            while try await FigureStore(connection).update(at: now) {}
            let (store, dimensions) = (FigureReportStore(connection), FigureReport.Dimension.allCases)
            var found: [FigureReport.Name: Int] = [:]
            for name in [FigureReport.Name.revenue, .movements, .trials] {
                for (place, first) in dimensions.enumerated() {
                    for second in dimensions[place...] {
                        let query = FigureReport.Query(
                            name, in: .production, of: [Reports.app],
                            days: try Reports.date("2025-06-20")..<Reports.date("2025-10-05"),
                            dimensions: [first, second])
                        for row in try await store.report(query).rows {
                            let cells = Dictionary(uniqueKeysWithValues: row.cells.map { ($0.dimension, $0.value) })
                            let parts = try await store.purchases(
                                behind: name.kinds, in: .production, of: [Reports.app], during: row.days, cells: cells,
                                limit: 10_000)
                            for (value, expected) in Self.values(of: name, parts) {
                                let shown = row.values.first { $0.name == value }?.value
                                #expect(shown == expected, "\(name) \(value): \(row)")
                            }
                            found[name, default: 0] += parts.count
                        }
                    }
                }
            }
            #expect(found.values.allSatisfy { $0 > 20 } && found.count == 3, "\(found)")
        }
    }

    /// The figures of a row that are sums of parts.
    private static func values(
        of report: FigureReport.Name, _ parts: [PurchasePart]
    ) -> [(String, FigureReport.Value)] {
        func amount(_ kinds: PurchaseFigures.Kind...) -> FigureReport.Value {
            .amount(parts.filter { kinds.contains($0.kind) }.reduce(0) { $0 + $1.amount })
        }
        func count(_ kinds: PurchaseFigures.Kind...) -> FigureReport.Value {
            .count(parts.filter { kinds.contains($0.kind) }.reduce(0) { $0 + $1.count })
        }
        return switch report {
        case .revenue:
            [
                ("charged", amount(.charge, .loyalCharge)), ("charges", count(.charge, .loyalCharge)),
                ("refunded", amount(.refund)), ("refunds", count(.refund)),
            ]
        case .trials: [("begun", count(.trialRunning, .trialEnded, .trialPaid)), ("paid", count(.trialPaid))]
        default:
            report.kinds.flatMap { [("\($0.rawValue)Amount", amount($0)), ("\($0.rawValue)Count", count($0))] }
        }
    }

    @Test func `A refund of an item counts on its day while the transaction goes on, by a rebuild as well`()
        async throws
    {
        try await LedgerStoreTests.use { connection, _ async throws in
            var refunded = try Reports.period("1", 1, "2026-01-10", "2026-02-10", refunded: "2026-02-03")
            refunded.event?.isRefundOfItems = true
            refunded.event?.transaction?.revocationDate = nil
            refunded.event?.transaction?.revocationPercentage = 20_000
            refunded.event?.transaction?.itemRefunds = [
                .init(date: try Reports.date("2026-02-02"), amount: 500),
                .init(date: try Reports.date("2026-01-20"), amount: 1_500),
            ]
            let entries = [try Reports.period("1", 1, "2026-01-10", "2026-02-10"), refunded]
            let now = try Reports.date("2026-02-05")
            _ = try await LedgerStore(connection).apply(entries, moving: [], recordedAt: now)
            let store = FigureReportStore(connection)
            for isRebuilt in [false, true] {
                if isRebuilt {
                    _ = try await FigureStore(connection).rebuild(
                        audit: OperatorAction(
                            actedAt: now, actor: "ann", operation: "insight rebuild", subject: "all figures",
                            reason: nil))
                }
                while try await FigureStore(connection).update(at: now) {}
                let lines = try await Reports.lines(.revenue, store, to: "2026-03-01")
                #expect(lines == ["01 10000 1 1500 1 8000 1.000", "02 0 0 500 1 0 -"])
                let refunds = try await store.purchases(
                    behind: [.refund, .refundOfCharge], in: .production, of: [Reports.app],
                    during: Reports.date("2026-01-01")..<Reports.date("2026-03-01"), limit: 10)
                #expect(Self.lines(refunds) == ["02-02 1 0 500 1", "01-20 1 0 1500 1", "01-10 1 0 2000 1"])
                #expect(try await FigureCheck(connection).differences(before: now) == [])
            }
        }
    }
}
