import Storage

import struct Foundation.Date
import struct Foundation.TimeInterval

/// The days to compare with the ledger.
struct SweepPlan {
    /// Delay after the end of a day, until Apple has recorded its last attempts.
    let delay: TimeInterval
    /// Maximum number of days per run: after a long pause, the newest must not wait for all others.
    var limit = 31

    struct Due: Equatable {
        /// Starts of days to sweep.
        var days: [Date] = []
        /// Starts of days that Apple no longer lists.
        var lost: [Date] = []
        /// The new end of the plan.
        var until: Date
    }

    /// The days to sweep; nil where no day is over.
    func due(_ coverage: Coverage, now: Date) -> Due? {
        let earliest = coverage.environment.earliestHistory(at: now)
        var due = Due(until: coverage.plannedUntil)
        while now.timeIntervalSince(due.until) >= HistoryRetention.day + delay, due.days.count < limit {
            if due.until < earliest { due.lost.append(due.until) } else { due.days.append(due.until) }
            due.until = due.until.addingTimeInterval(HistoryRetention.day)
        }
        return due.until == coverage.plannedUntil ? nil : due
    }

    static func scope(_ coverage: Coverage, day: Date) -> RecoveryWindow.Scope {
        RecoveryWindow.Scope(
            environment: coverage.environment, bundleId: coverage.bundleId, from: day,
            to: day.addingTimeInterval(HistoryRetention.day))
    }
}
