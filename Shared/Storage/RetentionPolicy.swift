import struct Foundation.Date

/// How long things are kept that only grow.
public struct RetentionPolicy: Sendable, Equatable {
    /// What notifications said, in days, with the signed originals. Not below ``leastLedgerDays``.
    public var ledgerDays: Int
    /// Who saw a notification first, in days. Not below ``leastSeenDays``.
    public var seenDays: Int

    /// Apple's history reaches back 180 days, and what it lists has to be compared with what we hold.
    public static let leastLedgerDays = 200
    /// Apple's last repetition comes 157 hours after the first attempt.
    public static let leastSeenDays = 7

    /// All fields; what is below the least is lifted to it.
    public init(ledgerDays: Int, seenDays: Int) {
        self.ledgerDays = max(ledgerDays, Self.leastLedgerDays)
        self.seenDays = max(seenDays, Self.leastSeenDays)
    }

    /// What was sighted before goes.
    public func oldestSeen(now: Date) -> Date { now.addingTimeInterval(-Double(seenDays) * 86_400) }
}
