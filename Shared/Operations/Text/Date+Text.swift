import Foundation

extension Date {
    /// UTC, to the second.
    package var text: String { formatted(Date.ISO8601FormatStyle()) }

    /// The day in UTC.
    package var day: String { formatted(Date.ISO8601FormatStyle().year().month().day()) }

    /// What a person gave: `2026-01-31T12:00:00Z`, or `2026-01-31`, which means its first moment in UTC. Impossible dates and times are
    /// rejected: the parser would silently move them, and takes a moment for its day.
    package static func given(_ text: String) -> Date? {
        guard isOnCalendar(text) else { return nil }
        let styles = [
            Date.ISO8601FormatStyle(), Date.ISO8601FormatStyle(includingFractionalSeconds: true),
            Date.ISO8601FormatStyle().year().month().day(),
        ]
        return styles.lazy.compactMap { try? $0.parse(text) }.first
    }

    private static func isOnCalendar(_ text: String) -> Bool {
        guard let parts = text.wholeMatch(of: #/(\d{4}-\d{2}-\d{2})(?:T(\d{2}):(\d{2}):(\d{2})\D.*)?/#),
            let day = try? Date.ISO8601FormatStyle().year().month().day().parse(String(parts.1)),
            day.day == parts.1
        else { return false }
        func isBelow(_ limit: Int, _ digits: Substring?) -> Bool { digits.flatMap { Int($0) } ?? 0 < limit }
        return isBelow(24, parts.2) && isBelow(60, parts.3) && isBelow(60, parts.4)
    }
}
