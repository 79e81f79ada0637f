import Contracts
import Foundation

/// Apple's durations: calendar periods in production, minutes in the sandbox.
struct TimeScale: Sendable, Equatable {
    /// Apple's three selectable speeds of renewal in the sandbox, named by the minutes that a month takes.
    enum SandboxSpeed: Int, Sendable, CaseIterable {
        case fiveMinutes = 5
        case thirtyMinutes = 30
        case hour = 60

        /// Apple's table; the shorter and longer periods are no fixed multiples of the month.
        fileprivate func minutes(_ period: Product.Period) -> Double {
            switch (self, period) {
            case (.fiveMinutes, .week): 3
            case (.fiveMinutes, .month): 5
            case (.fiveMinutes, .twoMonths): 10
            case (.fiveMinutes, .threeMonths): 15
            case (.fiveMinutes, .sixMonths): 30
            case (.fiveMinutes, .year): 60
            case (.thirtyMinutes, .week): 10
            case (.thirtyMinutes, .month): 30
            case (.thirtyMinutes, .twoMonths): 60
            case (.thirtyMinutes, .threeMonths): 90
            case (.thirtyMinutes, .sixMonths): 180
            case (.thirtyMinutes, .year): 360
            case (.hour, .week): 15
            case (.hour, .month): 60
            case (.hour, .twoMonths): 120
            case (.hour, .threeMonths): 180
            case (.hour, .sixMonths): 360
            case (.hour, .year): 720
            }
        }
    }

    var environment: StoreEnvironment
    /// Divides every duration of production; 1 is real time. The sandbox has Apple's table.
    var scale = 1.0
    var sandboxSpeed = SandboxSpeed.fiveMinutes
    /// Days of the billing grace period; nil where it is off.
    var graceDays: Int? = 16
    /// The sandbox ends a subscription after so many renewals.
    var sandboxRenewals = 12

    private static let day: TimeInterval = 86_400
    private static let calendar: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()

    /// The end of a period that begins at `start`.
    func end(of period: Product.Period, from start: Date) -> Date {
        if environment != .production { return start.addingTimeInterval(sandboxSpeed.minutes(period) * 60) }
        let end =
            switch period {
            case .week: start.addingTimeInterval(7 * Self.day)
            case .month: Self.months(1, after: start)
            case .twoMonths: Self.months(2, after: start)
            case .threeMonths: Self.months(3, after: start)
            case .sixMonths: Self.months(6, after: start)
            case .year: Self.months(12, after: start)
            }
        return start.adding(end.timeIntervalSince(start) / scale)
    }

    private static func months(_ count: Int, after start: Date) -> Date {
        calendar.date(byAdding: .month, value: count, to: start)
            ?? start.addingTimeInterval(Double(count) * 30 * day)
    }

    /// How long access continues without payment, shorter than the period: weekly subscriptions have at most 6 days, and
    /// a recovery must end in the future. Nil without grace.
    func grace(of period: Product.Period) -> TimeInterval? {
        graceDays.map { scaled(Double(min($0, period == .week ? 6 : 28)) * Self.day) }
            .map { environment == .production ? $0 : min($0, 0.8 * sandboxSpeed.minutes(period) * 60) }
    }

    /// How long Apple tries to collect: 60 days, within a commitment 90.
    func billingRetry(isCommitted: Bool) -> TimeInterval { scaled((isCommitted ? 90 : 60) * Self.day) }

    /// A gap longer than this makes a returning customer's subscription a recent one again: 60 days.
    var recentGap: TimeInterval { scaled(60 * Self.day) }

    /// How long before the end of a period Apple may already charge the next one.
    var earlyCharge: TimeInterval { scaled(Self.day) }

    /// A duration of real time in this scale, seconds.
    func scaled(_ seconds: TimeInterval) -> TimeInterval {
        let month = 30 * 24 * 60.0
        return seconds / (environment == .production ? scale : month / Double(sandboxSpeed.rawValue))
    }
}

extension Date {
    /// Later by this many seconds, in whole milliseconds: Apple's dates have no more, and a date must survive the JSON.
    func adding(_ seconds: TimeInterval) -> Date {
        Date(milliseconds: milliseconds + Int64((seconds * 1000).rounded()))
    }
}
