import struct Foundation.Date

/// Retention of the tables that grow without bound.
public struct RetentionPolicy: Sendable, Equatable {
    /// Days for which payloads and signed originals are kept. Not below ``leastLedgerDays``.
    public var ledgerDays: Int
    /// Days for which seen notifications are kept. Not below ``leastSeenDays``.
    public var seenDays: Int

    /// Apple's history reaches back 180 days, and its notifications have to be compared with the ledger.
    public static let leastLedgerDays = 200
    /// Apple's last retry comes 157 hours after the first attempt.
    public static let leastSeenDays = 7

    /// Values below the minimum are raised to it.
    public init(ledgerDays: Int, seenDays: Int) {
        self.ledgerDays = max(ledgerDays, Self.leastLedgerDays)
        self.seenDays = max(seenDays, Self.leastSeenDays)
    }

    /// Notifications first seen before this time are deleted.
    public func oldestSeen(now: Date) -> Date { now.addingTimeInterval(-Double(seenDays) * 86_400) }
}
