import Storage

import struct Foundation.Date
import struct Foundation.TimeInterval

/// When to ask for what Apple could not deliver, and since when.
struct FailuresPlan {
    let interval: TimeInterval
    /// An attempt that fails is recorded some time after it began, up to Apple's own time-out and however long its
    /// servers take; Apple states neither. What falls into the overlap is listed again, which is harmless.
    let overlap: TimeInterval

    /// The longest pause between two questions of which the first was refused.
    private static let longestPause: TimeInterval = 3600

    /// Nil where it is not time, or the last question still waits for Apple: its answer comes first, because it moves the
    /// beginning of the next one. What Apple refused is asked again less and less often: it is asked for from the same
    /// time on, so that nothing is left out.
    /// - Parameter asked: the latest questions, newest first.
    func due(_ coverage: Coverage, asked: [RecoveryWindowStore.Asked], now: Date) -> RecoveryWindow.Scope? {
        guard !asked.contains(where: { $0.state == .open }), now.timeIntervalSince(coverage.plannedUntil) >= interval,
            now >= notBefore(asked)
        else { return nil }
        let from = max(
            coverage.plannedUntil.addingTimeInterval(-overlap), coverage.beginsAt,
            Horizon.earliest(coverage.environment, now: now))
        guard from < now else { return nil }
        return RecoveryWindow.Scope(
            environment: coverage.environment, bundleId: coverage.bundleId, from: from, to: now, onlyFailures: true)
    }

    private func notBefore(_ asked: [RecoveryWindowStore.Asked]) -> Date {
        let refusals = asked.prefix { $0.state == .failed }.count
        guard refusals > 0 else { return .distantPast }
        let doubled = interval * Double(1 << min(refusals - 1, 20))
        return asked[0].openedAt.addingTimeInterval(min(doubled, max(interval, Self.longestPause)))
    }
}
