import struct Foundation.Date

/// A move of a purchase to another account of the app: a restore that was accepted when it was made. Later changes of the app's
/// policy neither undo it nor accept what was refused before.
public struct PurchaseMove: Sendable, Hashable {
    /// Of the purchase that moved.
    public var key: SubscriptionKey
    /// The account that restored it, lower-case UUID text; nil where that account was erased, which ends the move.
    public var to: String?
    /// The time of the restore.
    public var movedAt: Date
    /// Whether it counts against the limit of moves: it took the purchase to another account than the one that Apple names.
    public var isCounted: Bool
    /// Whether the purchase moved because nothing was paid for at that moment, as far as was known.
    public var isOfLapsed: Bool

    package init(key: SubscriptionKey, to: String?, movedAt: Date, isCounted: Bool, isOfLapsed: Bool) {
        self.key = key
        self.to = to
        self.movedAt = movedAt
        self.isCounted = isCounted
        self.isOfLapsed = isOfLapsed
    }

    /// The number of counted moves of one purchase within ``window``; one more is refused, because accounts that pass a purchase
    /// around share what one customer paid for.
    package static let limit = 3
    /// Seconds.
    package static let window: Double = 30 * 86_400
}

extension Collection<PurchaseMove> {
    /// The number of moves of a purchase that count against the limit at a moment.
    /// - Parameter keys: the purchase, and those that a migration replaced by it: a migration does not begin the count again.
    package func count(of keys: Set<SubscriptionKey>, before moment: Date) -> Int {
        let start = moment.addingTimeInterval(-PurchaseMove.window)
        return count { keys.contains($0.key) && $0.isCounted && $0.movedAt > start }
    }
}
