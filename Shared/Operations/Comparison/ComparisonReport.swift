import Contracts
import Postgres
import Storage

import struct Foundation.Date

/// The answer to whether an app can change over: what the comparisons of the last days found, and what is missing.
package struct ComparisonReport: Sendable {
    package static let days = 1...90

    /// A day, in UTC.
    package struct Day: Sendable {
        /// Its first moment.
        package var day: Date
        /// The newest of the day; nil where none was finished.
        package var comparison: Comparison?
        /// The extent to which the day is compared with Apple's history; nil where nothing is known of it.
        package var coverage: CoverageDay.State?

        /// Why the day does not count, sentences without a full stop.
        package var problems: [String] {
            var problems: [String] = []
            if let counts = comparison?.counts {
                if counts.customers == 0 { problems.append("the file names no customer") }
                if counts.invalid > 0 { problems.append("\(counts.invalid.counted("line")) of the file not compared") }
                if counts.unexplained > 0 {
                    problems.append("\(counts.unexplained.counted("difference")) unexplained")
                }
            } else {
                problems.append("not compared")
            }
            if coverage != .complete {
                problems.append("not complete by coverage: \(coverage?.rawValue ?? "not checked yet")")
            }
            return problems
        }
    }

    /// The oldest first; the last one is yesterday.
    package let days: [Day]
    /// The kind of file; nil where nothing was compared.
    package let source: String?

    /// True where every customer with access on either side was compared on each day, nothing is unexplained, and each day is complete.
    package var isPassed: Bool { days.allSatisfy(\.problems.isEmpty) }

    /// Reads the days before today.
    /// - Parameter source: nil: the only one.
    /// - Throws: `OperationError` where the number of days is out of range, or there are several sources.
    package init(
        ofLast count: Int, _ bundleId: String, in environment: StoreEnvironment, source: ComparisonSource? = nil,
        at now: Date, on connection: PostgresConnection
    ) async throws {
        try Self.days.check(count)
        let today = (now.timeIntervalSince1970 / 86_400).rounded(.down)
        let (from, to) = (
            Date(timeIntervalSince1970: (today - Double(count)) * 86_400), Date(timeIntervalSince1970: today * 86_400)
        )
        let comparisons = try await ComparisonStore(connection).finished(
            of: bundleId, in: environment, source: source?.rawValue, within: from..<to)
        let sources = Set(comparisons.map(\.source)).sorted()
        guard sources.count <= 1 else {
            throw OperationError(
                "files of several kinds were compared: choose one of \(sources.joined(separator: ", ")) with --source",
                .invalid("source"))
        }
        self.source = source?.rawValue ?? sources.first
        let covered = try await CoverageStore(connection).days(
            from: from, to: to, environment: environment, bundleId: bundleId)
        days = (0..<count).map { index in
            let day = from.addingTimeInterval(Double(index) * 86_400)
            let next = day.addingTimeInterval(86_400)
            return Day(
                day: day, comparison: comparisons.last { day <= $0.takenAt && $0.takenAt < next },
                coverage: covered.first { $0.day == day }?.state)
        }
    }
}
