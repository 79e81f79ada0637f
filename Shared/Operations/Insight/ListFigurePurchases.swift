import Contracts
import Postgres
import Storage
import Subscriptions

import struct Foundation.Date

/// The purchases behind figures of revenue, as text asks for them, page by page.
package struct ListFigurePurchases: Sendable {
    /// A part of the list.
    package struct Page: Sendable {
        /// The newest days first, and those of a day by purchase.
        package var purchases: [PurchasePart]
        /// Behind which the next page begins; nil on the last one.
        package var next: PurchasePart.Position?
    }

    /// Rows of a page are kept to what people and programs read at once.
    private static let longest = 10_000

    private let environment: StoreEnvironment
    private let bundleIds: [String]?
    private let kinds: [PurchaseFigures.Kind]
    /// The first day, and the first one after the last.
    package let days: Range<Date>
    private let cells: [FigureReport.Dimension: String]
    private let position: PurchasePart.Position?
    private let limit: Int

    /// - Parameters:
    ///   - bundleIds: nil means all apps.
    ///   - from: first day, such as `2026-01-31`; nil: twelve months before the month of `to`.
    ///   - to: the day after the last; nil: tomorrow.
    ///   - kinds: of the report, separated by commas; nil: all that make it up.
    ///   - cells: of the row; a dimension that is not among them may be anything.
    ///   - position: behind which the page begins; nil: with the newest.
    ///   - limit: of rows of the page; at most 10,000.
    /// - Throws: `OperationError` with what is wrong.
    package init(
        behind report: FigureReport.Name, in environment: StoreEnvironment, of bundleIds: [String]?,
        from: String? = nil, to: String? = nil, kinds: String? = nil, cells: [FigureReport.Dimension: String] = [:],
        after position: PurchasePart.Position? = nil, limit: Int, at now: Date
    ) throws(OperationError) {
        self.environment = environment
        self.bundleIds = bundleIds
        days = try FigureQuestion(.movements, in: environment, of: bundleIds, from: from, to: to, at: now).query.days
        var chosen: [PurchaseFigures.Kind] = []
        for text in (kinds ?? "").split(separator: ",") {
            guard let kind = report.kinds.first(where: { $0.rawValue == text }) else {
                throw OperationError(
                    "“\(text.prefix(50))” is no kind of \(report.rawValue): give "
                        + report.kinds.map(\.rawValue).joined(separator: ", "), .invalid("kind"))
            }
            chosen.append(kind)
        }
        self.kinds = chosen.isEmpty ? report.kinds : chosen
        self.cells = cells
        self.position = position
        self.limit = min(limit, Self.longest)
    }

    /// Reads the page.
    package func page(on connection: PostgresConnection) async throws -> Page {
        let found = try await FigureReportStore(connection).purchases(
            behind: kinds, in: environment, of: bundleIds, during: days, cells: cells, after: position,
            limit: limit + 1)
        let shown = Array(found.prefix(limit))
        return Page(purchases: shown, next: found.count > limit ? shown.last?.position : nil)
    }
}

extension PurchasePart {
    /// The number of periods of a cohort that were paid for so far; nil of another figure.
    package var periods: Int64? {
        [.periods, .resubscribedPeriods, .unbrokenPeriods].contains(kind) ? step : nil
    }

    /// After how many days a trial was paid; nil of another figure.
    package var daysUntilPaid: Int64? { kind == .trialPaid ? step : nil }
}

extension PurchasePart.Position {
    /// Such as `2026-01-31/2000000123456789/1`.
    package var text: String { "\(FigureQuestion.text(day))/\(originalTransactionId)/\(place)" }

    /// Nil where the text is no position.
    package init?(_ text: String) {
        let words = text.split(separator: "/", omittingEmptySubsequences: false)
        guard words.count >= 3, let place = words.last.flatMap({ Int64($0) }),
            let day = try? FigureQuestion.day(String(words[0]), "day")
        else { return nil }
        let id = words.dropFirst().dropLast().joined(separator: "/")
        self.init(day: day, originalTransactionId: id, place: place)
    }
}
