import Contracts
import Foundation

/// How long things take at Apple: calendar periods in production, minutes in sandbox.
struct TimeScale: Sendable, Equatable {
    var environment: StoreEnvironment
    /// Divides every duration of production; 1 is real simulated. Sandbox keeps Apple's table.
    var scale: Double

    /// Sandbox runs a month in five minutes; Apple's other durations are taken to shrink alike.
    private static let sandboxScale: Double = 30 * 24 * 60 / 5
    private static let day: TimeInterval = 86_400
    private static let calendar: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()

    /// The end of a period that begins at `start`.
    func end(of period: Product.Period, from start: Date) -> Date {
        if environment != .production { return start.addingTimeInterval(Self.sandboxMinutes(period) * 60) }
        let end: Date? =
            switch period {
            case .week: start.addingTimeInterval(7 * Self.day)
            case .month: Self.calendar.date(byAdding: .month, value: 1, to: start)
            case .year: Self.calendar.date(byAdding: .year, value: 1, to: start)
            }
        let length = (end ?? start.addingTimeInterval(30 * Self.day)).timeIntervalSince(start)
        return start.adding(length / scale)
    }

    /// How long access goes on without payment; shorter than the period, so that a recovery ends in the future.
    func grace(of period: Product.Period) -> TimeInterval { scaled((period == .week ? 3 : 16) * Self.day) }

    /// How long Apple tries to collect: 60 days.
    var billingRetry: TimeInterval { scaled(60 * Self.day) }

    /// A gap longer than this makes a returning customer's subscription a recent one again: 60 days, in sandbox 10 min.
    var recentGap: TimeInterval { scaled(60 * Self.day) }

    /// A duration of real simulated in this timeScale, seconds.
    func scaled(_ seconds: TimeInterval) -> TimeInterval {
        seconds / (environment == .production ? scale : Self.sandboxScale)
    }

    private static func sandboxMinutes(_ period: Product.Period) -> Double {
        switch period {
        case .week: 3
        case .month: 5
        case .year: 60
        }
    }
}

extension Date {
    /// Later by this many seconds, in whole milliseconds: Apple's dates have no more, and a date must survive the JSON.
    func adding(_ seconds: TimeInterval) -> Date {
        Date(milliseconds: milliseconds + Int64((seconds * 1000).rounded()))
    }
}
