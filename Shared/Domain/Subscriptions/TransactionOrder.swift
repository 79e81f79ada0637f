import Contracts

import struct Foundation.Date
import struct Foundation.TimeInterval

/// Decides which of two signed versions of a purchase's transactions is the current one: the greater.
///
/// The later purchase is greater, to the millisecond, so that a refund of an older period never changes the current
/// period. An implausible purchase date counts as none, because no later purchase could replace it. Of the same transaction
/// the version signed later is greater, so that a refund and its reversal replace each other in Apple's order. The end of
/// the period is left out on purpose: an extension moves it, and a rank that changes with the version would make the
/// outcome depend on the order of arrival. For the same reason versions of one transaction whose purchase dates differ by
/// more than a millisecond rank by that date, not by their age.
///
/// Apple dates a renewal at the beginning of its period and may charge it a day before; it dates a purchase at its charge.
/// So a renewal counts as a day older than its date: an upgrade within that day is the later purchase. Seats that are added
/// within that day count as a day older, too: they end where the renewal begins.
///
/// This is a total order over versions, so that the greatest is the same in any order and with any repetition.
public struct TransactionOrder: Sendable, Comparable {
    private let purchase: Purchase
    private let signedDate: Date
    private let version: EventVersion

    /// - Parameters:
    ///   - transaction: one without a purchase date ranks below all that have one.
    ///   - version: the version of the event that held the transaction.
    ///   - environment: where the purchase was made.
    public init(_ transaction: TransactionFacts, version: EventVersion, in environment: StoreEnvironment) {
        let early = BillingRules.earlyRenewal(in: environment)
        let date = transaction.purchaseDate.flatMap { $0.isPlausible ? $0.wholeMilliseconds : nil }
        purchase = transaction.purchase(dated: date, early: early)
        signedDate = transaction.signedDate
        self.version = version
    }

    /// Orders by purchase, then transaction id (the longer is the greater, being a number), then version.
    public static func < (left: Self, right: Self) -> Bool {
        guard left.purchase == right.purchase else { return left.purchase < right.purchase }
        guard left.signedDate == right.signedDate else { return left.signedDate < right.signedDate }
        return left.version < right.version
    }

    /// Date and transaction id of a purchase.
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
    /// Whether it was bought before another transaction, by the dates as signed; never true in both directions.
    /// - Parameter early: how long before a period Apple may charge for it.
    func isEarlierPurchase(than other: TransactionFacts, early: TimeInterval) -> Bool {
        purchase(dated: purchaseDate, early: early) < other.purchase(dated: other.purchaseDate, early: early)
    }

    fileprivate func purchase(dated date: Date?, early: TimeInterval) -> TransactionOrder.Purchase {
        TransactionOrder.Purchase(
            date: date?.addingTimeInterval(isDatedAhead(early) ? -early : 0) ?? .distantPast,
            transactionId: transactionId)
    }

    /// Whether Apple may have charged it before a purchase of an earlier date: a renewal, and the seats that were added on
    /// the last day before one. No period is as short as that.
    private func isDatedAhead(_ early: TimeInterval) -> Bool {
        guard let purchaseDate, let expiresDate, purchaseDate < expiresDate else { return false }
        return reason == "RENEWAL"
            || (additionalTransactionReason != nil && expiresDate.timeIntervalSince(purchaseDate) <= early)
    }
}
