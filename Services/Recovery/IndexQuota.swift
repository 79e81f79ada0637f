import Synchronization

import struct Foundation.Date

/// How many forged notifications a process indexes per reason and hour. A junk body of 29 bytes would otherwise cost the database
/// ten times as much for a month.
final class IndexQuota: Sendable {
    /// Enough to see who sends what.
    static let perHour = 1000

    private struct State {
        var hour = 0
        var counts: [String: Int] = [:]
    }

    private let limit: Int
    private let state = Mutex(State())

    init(perHour limit: Int = IndexQuota.perHour) { self.limit = limit }

    /// Counts one; false where the hour's quota of the reason is used up. The hours are those in which the records were rejected.
    func admits(_ reason: String, at date: Date) -> Bool {
        let hour = Int((date.timeIntervalSince1970 / 3600).rounded(.down))
        return state.withLock { state in
            // A partition that lags brings records of an earlier hour: they count for the newest.
            if hour > state.hour {
                state.hour = hour
                state.counts = [:]
            }
            guard state.counts[reason, default: 0] < limit else { return false }
            state.counts[reason, default: 0] += 1
            return true
        }
    }
}
