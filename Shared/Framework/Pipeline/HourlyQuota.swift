import Synchronization

import struct Foundation.Date

/// How many unsigned records of one kind a process stores an hour. A junk body of 29 bytes would otherwise cost the database
/// ten times as much, for a month or for ever.
public final class HourlyQuota: Sendable {
    /// Enough to see who sends what.
    public static let perHour = 1000

    private struct State {
        var hour = 0
        var counts: [String: Int] = [:]
    }

    private let limit: Int
    private let now: @Sendable () -> Date
    private let state = Mutex(State())

    /// - Parameters:
    ///   - limit: number of records of one kind.
    ///   - now: a record of a later time counts for the hour of this one: a wrong clock wrote it.
    public init(perHour limit: Int = HourlyQuota.perHour, now: @escaping @Sendable () -> Date) {
        self.limit = limit
        self.now = now
    }

    /// Counts one; false where the hour's quota of the kind is used up.
    /// - Parameters:
    ///   - kind: one of few: the reason of a rejection, or an app.
    ///   - date: when the record was received or rejected.
    public func admits(_ kind: String, at date: Date) -> Bool {
        let now = now()
        let (hour, present) = (Self.hour(of: min(date, now)), Self.hour(of: now))
        return state.withLock { state in
            // A partition that lags brings records of an earlier hour: they count for the newest. That one lies ahead
            // by more than an hour only where this process's clock was set back.
            if hour > state.hour || state.hour > present + 1 {
                state.hour = hour
                state.counts = [:]
            }
            guard state.counts[kind, default: 0] < limit else { return false }
            state.counts[kind, default: 0] += 1
            return true
        }
    }

    private static func hour(of date: Date) -> Int { Int((date.timeIntervalSince1970 / 3600).rounded(.down)) }
}
