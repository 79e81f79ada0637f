import struct Foundation.Date

/// How long things are kept that only grow.
public struct RetentionPolicy: Sendable, Equatable {
    /// What notifications said, in days, with the signed originals. Not below ``leastLedgerDays``.
    public var ledgerDays: Int
    /// Who saw a notification first, in days. Not below ``leastSightingDays``.
    public var sightingDays: Int

    /// Apple's history reaches back 180 days, and what it lists has to be compared with what we hold.
    public static let leastLedgerDays = 200
    /// Apple's last repetition comes 157 hours after the first attempt.
    public static let leastSightingDays = 7

    /// All fields; what is below the least is lifted to it.
    public init(ledgerDays: Int, sightingDays: Int) {
        self.ledgerDays = max(ledgerDays, Self.leastLedgerDays)
        self.sightingDays = max(sightingDays, Self.leastSightingDays)
    }

    /// What was sighted before goes.
    public func oldestSighting(now: Date) -> Date { now.addingTimeInterval(-Double(sightingDays) * 86_400) }
}
