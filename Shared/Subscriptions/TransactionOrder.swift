import struct Foundation.Date
import struct Foundation.TimeInterval

/// Which of two signed versions of a subscription's transactions is the current one: the greater.
///
/// First the later purchase, to the millisecond, so that a refund of an older period, however new, never speaks for the
/// period that runs. A date of purchase that is not plausible counts as none: it would hold the place for ever.
/// Of the same transaction the version signed later, so that a refund and its reversal replace each other in Apple's
/// order. The end of the period is left out on purpose: an extension moves it, and a rank that changes with the version
/// would make the outcome depend on what arrives first. For the same reason versions of one transaction whose dates of
/// purchase lie further apart than a millisecond rank by that date, not by their age.
///
/// A renewal is dated at the beginning of its period and may be charged a day before; a purchase is dated at its charge. So a
/// renewal counts as a day older than its date: an upgrade within that day is the later purchase.
///
/// This is a total order over versions, so that keeping the greatest is the same in any order and any repetition.
public struct TransactionOrder: Sendable, Comparable {
    private let purchase: Purchase
    private let signedDate: Date
    private let version: EventVersion

    /// - Parameters:
    ///   - transaction: without a purchase date it ranks below all that have one.
    ///   - version: of the event that held this version.
    public init(_ transaction: TransactionFacts, version: EventVersion) {
        let date = transaction.purchaseDate.flatMap { $0.isPlausible ? $0.wholeMilliseconds : nil }
        purchase = Purchase(
            date: date?.addingTimeInterval(-transaction.earlyCharge) ?? .distantPast,
            transactionId: transaction.transactionId)
        signedDate = transaction.signedDate
        self.version = version
    }

    /// By purchase, then transaction id (the longer is the greater, being a number), then version.
    public static func < (left: Self, right: Self) -> Bool {
        guard left.purchase == right.purchase else { return left.purchase < right.purchase }
        guard left.signedDate == right.signedDate else { return left.signedDate < right.signedDate }
        return left.version < right.version
    }

    /// When, and under which number.
    fileprivate struct Purchase: Comparable {
        var date: Date
        var transactionId: String

        static func < (left: Self, right: Self) -> Bool {
            guard left.date == right.date else { return left.date < right.date }
            let (mine, others) = (left.transactionId.utf8, right.transactionId.utf8)
            guard mine.count == others.count else { return mine.count < others.count }
            return mine.lexicographicallyPrecedes(others)
        }
    }
}

extension TransactionFacts {
    /// Whether it was bought before another one, by the dates as they stand; never true in both directions.
    func isEarlierPurchase(than other: TransactionFacts) -> Bool { purchase < other.purchase }

    private var purchase: TransactionOrder.Purchase {
        TransactionOrder.Purchase(
            date: purchaseDate?.addingTimeInterval(-earlyCharge) ?? .distantPast, transactionId: transactionId)
    }

    /// How long before its date a renewal may have been charged. No production period is shorter than two days, and no
    /// sandbox period is longer: its years are hours.
    fileprivate var earlyCharge: TimeInterval {
        guard reason == "RENEWAL", let purchaseDate, let expiresDate, purchaseDate < expiresDate else { return 0 }
        let isSandbox = expiresDate.timeIntervalSince(purchaseDate) < 2 * BillingRules.day
        return BillingRules.earlyRenewal(in: isSandbox ? .sandbox : .production)
    }
}
