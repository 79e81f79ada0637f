import Storage

import struct Foundation.Date
import struct Foundation.TimeInterval

/// When to ask for what Apple could not deliver, and since when.
struct FailuresPlan {
    let interval: TimeInterval
    /// An attempt that fails is recorded some time after it began, up to Apple's own time-out and however long its
    /// servers take; Apple states neither. What falls into the overlap is listed again, which is harmless.
    let overlap: TimeInterval

    /// Nil where it is not time, or the last question still waits for Apple: its answer comes first, because it moves the
    /// beginning of the next one.
    func due(_ coverage: Coverage, isAsking: Bool, now: Date) -> RecoveryWindow.Scope? {
        guard !isAsking, now.timeIntervalSince(coverage.plannedUntil) >= interval else { return nil }
        let from = max(
            coverage.plannedUntil.addingTimeInterval(-overlap), coverage.beginsAt,
            Horizon.earliest(coverage.environment, now: now))
        guard from < now else { return nil }
        return RecoveryWindow.Scope(
            environment: coverage.environment, bundleId: coverage.bundleId, from: from, to: now, onlyFailures: true)
    }
}
