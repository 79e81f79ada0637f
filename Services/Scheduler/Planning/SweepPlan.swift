import Storage

import struct Foundation.Date
import struct Foundation.TimeInterval

/// Which whole days to compare with the ledger.
struct SweepPlan {
    /// After the end of a day: Apple has to have recorded its last attempts.
    let delay: TimeInterval
    /// Days opened in one turn at most: after a long pause the newest of them must not wait behind all others.
    var limit = 31

    struct Due: Equatable {
        /// First moments of days to sweep.
        var days: [Date] = []
        /// First moments of days that Apple no longer lists.
        var lost: [Date] = []
        /// Where the plan stands then.
        var until: Date
    }

    /// Nil where no day is over.
    func due(_ coverage: Coverage, now: Date) -> Due? {
        let earliest = Horizon.earliest(coverage.environment, now: now)
        var due = Due(until: coverage.plannedUntil)
        while now.timeIntervalSince(due.until) >= Horizon.day + delay, due.days.count < limit {
            if due.until < earliest { due.lost.append(due.until) } else { due.days.append(due.until) }
            due.until = due.until.addingTimeInterval(Horizon.day)
        }
        return due.until == coverage.plannedUntil ? nil : due
    }

    static func scope(_ coverage: Coverage, day: Date) -> RecoveryWindow.Scope {
        RecoveryWindow.Scope(
            environment: coverage.environment, bundleId: coverage.bundleId, from: day,
            to: day.addingTimeInterval(Horizon.day))
    }
}
