import ArgumentParser
import Commands
import Foundation
import Operations

/// A point in time: `2026-01-31T12:00:00Z`, `2026-01-31`, or `6h` for six hours ago.
enum TimeArgument: ExpressibleByArgument, Equatable {
    case at(Date)
    /// Seconds before now.
    case ago(Int)

    init?(argument: String) {
        if let date = Date.given(argument) {
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

    /// A hundred years: nothing here is older, and what is not even a time to Postgres or Kafka is rejected here.
    private static let longest = 36_525 * 86_400

    private static func seconds(_ text: String) -> Int? {
        let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let unit = text.last.flatMap({ units[$0] }), let number = Int(text.dropLast()), number >= 0 else {
            return nil
        }
        let (seconds, overflow) = number.multipliedReportingOverflow(by: unit)
        return overflow || seconds > Self.longest ? nil : seconds
    }
}
