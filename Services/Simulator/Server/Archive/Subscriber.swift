import Foundation

/// What Apple knows of one purchase and its renewals.
///
/// Lives are led in compressed time and mostly in the past: what is answered about one is signed at the moment of the
/// newest notice about it, not at that of the question. Else a later notice would look older than the answer.
struct Subscriber: Sendable {
    struct Transaction: Sendable {
        var purchase: Purchase
        /// The notice that said so.
        var toldAt: Date
        /// Rises with every change in the shelf: Apple's order "by modified date".
        var revision: Int64
        var isFinished = false
    }

    /// Says who bought, and what is believed now.
    var newest: Notice
    var transactions: [Transaction] = []
    /// Of Apple's limit, two within 365 days.
    var extensions: [Date] = []
    /// Positions of its notifications on the shelf, rising.
    var notifications: [Int] = []

    init(newest: Notice) { self.newest = newest }

    /// Takes in what a notice says.
    /// - Parameter revise: hands out the next revision.
    mutating func note(_ notice: Notice, of purchase: Purchase, revise: () -> Int64) {
        if let place = transactions.lastIndex(where: { $0.purchase.transactionId == purchase.transactionId }) {
            if transactions[place].toldAt < notice.signedDate {
                var changed = purchase
                changed.isUpgraded = transactions[place].purchase.isUpgraded
                transactions[place].toldAt = notice.signedDate
                if transactions[place].purchase != changed {
                    transactions[place].purchase = changed
                    transactions[place].revision = revise()
                }
            }
        } else {
            if notice.announcement == .upgraded, !transactions.isEmpty {
                transactions[transactions.count - 1].purchase.isUpgraded = true
                transactions[transactions.count - 1].revision = revise()
            }
            transactions.append(Transaction(purchase: purchase, toldAt: notice.signedDate, revision: revise()))
        }
        if notice.signedDate > newest.signedDate { newest = notice }
    }
}
