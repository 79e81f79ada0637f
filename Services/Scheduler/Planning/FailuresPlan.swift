import Storage

import struct Foundation.Date
import struct Foundation.TimeInterval

/// When to check for notifications that Apple could not deliver, and from what time.
///
/// All notifications of an app that is followed are fetched: Apple delivers them to another server.
struct FailuresPlan {
    let interval: TimeInterval
    /// Apple records a failed attempt some time after it began and documents no limit. Notifications in the overlap are
    /// listed again, which is harmless.
    let overlap: TimeInterval
    /// The bundle ids of the apps that are followed, and how often.
    var followed: Set<String> = []
    var followInterval: TimeInterval = 900

    /// Maximum backoff after rejected checks, seconds.
    private static let longestPause: TimeInterval = 3600

    /// Nil before the next check is due, or while the last one is open: its result moves the start of the next one.
    /// Rejected checks are repeated from the same time with exponential backoff.
    /// - Parameter asked: the latest checks, newest first.
    func due(_ coverage: Coverage, asked: [RecoveryWindowStore.Asked], now: Date) -> RecoveryWindow.Scope? {
        // One that a clock opened that was ahead was rejected for that, and says nothing about when to ask.
        let asked = asked.filter { $0.state == .open || $0.openedAt <= now }
        let isFollowed = followed.contains(coverage.bundleId)
        let interval = isFollowed ? followInterval : interval
        guard !asked.contains(where: { $0.state == .open }), now.timeIntervalSince(coverage.plannedUntil) >= interval,
            now >= notBefore(asked, interval)
        else { return nil }
        let from = max(
            coverage.plannedUntil.addingTimeInterval(-overlap), coverage.beginsAt,
            coverage.environment.earliestHistory(at: now))
        guard from < now else { return nil }
        return RecoveryWindow.Scope(
            environment: coverage.environment, bundleId: coverage.bundleId, from: from, to: now,
            onlyFailures: !isFollowed)
    }

    private func notBefore(_ asked: [RecoveryWindowStore.Asked], _ interval: TimeInterval) -> Date {
        let rejections = asked.prefix { $0.state == .failed }.count
        guard rejections > 0 else { return .distantPast }
        let doubled = interval * Double(1 << min(rejections - 1, 20))
        return asked[0].openedAt.addingTimeInterval(min(doubled, max(interval, Self.longestPause)))
    }
}
