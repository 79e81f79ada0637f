import ArgumentParser
import Commands
import Foundation

/// A point in time: `2026-01-31T12:00:00Z`, `2026-01-31`, or `6h` for six hours ago.
enum TimeArgument: ExpressibleByArgument, Equatable {
    case at(Date)
    /// Seconds before now.
    case ago(Int)

    init?(argument: String) {
        if let date = Self.date(argument) {
            self = .at(date)
        } else if let seconds = Self.seconds(argument) {
            self = .ago(seconds)
        } else {
            return nil
        }
    }

    func date(now: Date) -> Date {
        switch self {
        case .at(let date): date
        case .ago(let seconds): now.addingTimeInterval(-Double(seconds))
        }
    }

    static let help = "2026-01-31T12:00:00Z, 2026-01-31 (UTC), or 6h for six hours ago"

    /// A day means its first moment. Impossible dates and times are rejected: the parser would silently move them.
    static func date(_ text: String) -> Date? {
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

    private static func seconds(_ text: String) -> Int? {
        let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let unit = text.last.flatMap({ units[$0] }), let number = Int(text.dropLast()), number >= 0 else {
            return nil
        }
        let (seconds, overflow) = number.multipliedReportingOverflow(by: unit)
        return overflow ? nil : seconds
    }
}
