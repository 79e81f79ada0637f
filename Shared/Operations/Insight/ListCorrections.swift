import Contracts
import Postgres
import Storage

import struct Foundation.Date

/// Which purchases changed figures of days after the days were first reported, as text asks for it, page by page.
package struct ListCorrections: Sendable {
    /// A part of the list.
    package struct Page: Sendable {
        /// The newest days and changes first.
        package var corrections: [FigureCorrection]
        /// Behind which the next page begins; nil on the last one.
        package var next: FigureCorrection.Position?
    }

    /// Rows of a page are kept to what people and programs read at once.
    private static let longest = 10_000

    private let environment: StoreEnvironment
    private let bundleIds: [String]?
    /// The first day, and the first one after the last.
    package let days: Range<Date>
    private let position: FigureCorrection.Position?
    private let limit: Int

    /// - Parameters:
    ///   - bundleIds: nil means all apps.
    ///   - from: first day, such as `2026-01-31`; nil: twelve months before the month of `to`.
    ///   - to: the day after the last; nil: tomorrow.
    ///   - position: behind which the page begins; nil: with the newest.
    ///   - limit: of rows of the page; at most 10,000.
    /// - Throws: `OperationError` with what is wrong.
    package init(
        in environment: StoreEnvironment, of bundleIds: [String]?, from: String? = nil, to: String? = nil,
        after position: FigureCorrection.Position? = nil, limit: Int, at now: Date
    ) throws(OperationError) {
        self.environment = environment
        self.bundleIds = bundleIds
        days = try FigureQuestion(.movements, in: environment, of: bundleIds, from: from, to: to, at: now).query.days
        self.position = position
        self.limit = min(limit, Self.longest)
    }

    /// Reads the page.
    package func page(on connection: PostgresConnection) async throws -> Page {
        let found = try await FigureReportStore(connection).corrections(
            in: environment, of: bundleIds, during: days, after: position, limit: limit + 1)
        let shown = Array(found.prefix(limit))
        return Page(corrections: shown, next: found.count > limit ? shown.last?.position : nil)
    }
}

extension FigureCorrection.Position {
    /// Such as `2026-01-31/812`.
    package var text: String { "\(FigureQuestion.text(day))/\(id)" }

    /// Nil where the text is no position.
    package init?(_ text: String) {
        let words = text.split(separator: "/", omittingEmptySubsequences: false)
        guard words.count == 2, let id = Int64(words[1]), let day = try? FigureQuestion.day(String(words[0]), "day")
        else { return nil }
        self.init(day: day, id: id)
    }
}
