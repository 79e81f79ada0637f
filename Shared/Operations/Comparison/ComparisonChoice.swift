import Contracts
import Postgres
import Storage

import struct Foundation.Date

/// The kind of file that is compared. An app may have comparisons of several; the report is about one.
package enum ComparisonSource: String, Sendable, CaseIterable {
    /// RevenueCat's scheduled data export.
    case revenueCat
    /// Adapty's daily files.
    case adapty
    case jsonLines
    /// Separated values with named columns.
    case columns
}

/// The comparison whose differences are listed: the newest one of an app, or of a day, or of a kind of file.
package struct ComparisonChoice: Sendable {
    private let bundleId: String
    private let environment: StoreEnvironment
    private let day: Range<Date>?
    private let source: ComparisonSource?

    /// - Parameters:
    ///   - day: any moment of the day, in UTC, of the moment of the file; nil: all.
    ///   - source: nil: all.
    package init(
        of bundleId: String, in environment: StoreEnvironment, day: Date? = nil, source: ComparisonSource? = nil
    ) {
        self.bundleId = bundleId
        self.environment = environment
        self.source = source
        self.day = day.map { moment in
            let start = Date(timeIntervalSince1970: (moment.timeIntervalSince1970 / 86_400).rounded(.down) * 86_400)
            return start..<start.addingTimeInterval(86_400)
        }
    }

    /// - Throws: `OperationError` where there is none.
    package func newest(at now: Date, on connection: PostgresConnection) async throws -> Comparison {
        let all = Date(timeIntervalSince1970: 0)..<now.addingTimeInterval(86_400)
        let comparisons = try await ComparisonStore(connection).finished(
            of: bundleId, in: environment, source: source?.rawValue, within: day ?? all)
        guard let newest = comparisons.last else {
            let limits = [source.map { ", source \($0.rawValue)" }, day.map { ", day \($0.lowerBound.day)" }]
            throw OperationError(
                "no comparison of \(bundleId.escaped) in \(environment.rawValue)"
                    + "\(limits.compactMap(\.self).joined()) is stored: storekeeper compare FILE makes one", .notFound)
        }
        return newest
    }
}
