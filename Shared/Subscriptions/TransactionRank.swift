import struct Foundation.Date

/// Which of two signed versions of a subscription's transactions is the current one: the greater.
///
/// First the later purchase, so that a refund of an older period, however new, never speaks for the period that runs.
/// Of the same transaction the version signed later, so that a refund and its reversal replace each other in Apple's
/// order. The end of the period is left out on purpose: an extension moves it, and a rank that changes with the version
/// would make the outcome depend on what arrives first.
///
/// This is a total order over versions, so that keeping the greatest is the same in any order and any repetition.
public struct TransactionRank: Sendable, Comparable {
    private let purchaseDate: Date
    private let transactionId: String
    private let signedDate: Date
    private let stamp: Stamp

    /// - Parameters:
    ///   - transaction: without a purchase date it ranks below all that have one.
    ///   - stamp: of the news that held this version.
    public init(_ transaction: TransactionFacts, stamp: Stamp) {
        purchaseDate = transaction.purchaseDate ?? .distantPast
        transactionId = transaction.transactionId
        signedDate = transaction.signedDate
        self.stamp = stamp
    }

    /// By purchase, then transaction id (the longer is the greater, being a number), then version.
    public static func < (left: Self, right: Self) -> Bool {
        if left.isSamePurchase(as: right) {
            guard left.signedDate == right.signedDate else { return left.signedDate < right.signedDate }
            return left.stamp < right.stamp
        }
        return left.isEarlierPurchase(than: right)
    }

    func isEarlierPurchase(than other: Self) -> Bool {
        guard purchaseDate == other.purchaseDate else { return purchaseDate < other.purchaseDate }
        let (mine, others) = (transactionId.utf8, other.transactionId.utf8)
        guard mine.count == others.count else { return mine.count < others.count }
        return mine.lexicographicallyPrecedes(others)
    }

    private func isSamePurchase(as other: Self) -> Bool {
        purchaseDate == other.purchaseDate && transactionId == other.transactionId
    }
}

extension TransactionFacts {
    /// Whether it was bought before another one; never true in both directions.
    func isEarlierPurchase(than other: TransactionFacts) -> Bool {
        // Versions play no part in the comparison of purchases, so one stamp serves for both.
        TransactionRank(self, stamp: .none).isEarlierPurchase(than: TransactionRank(other, stamp: .none))
    }
}
