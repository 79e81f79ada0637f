import Foundation

/// What Apple knows of one purchase and its renewals.
///
/// Purchases happen in compressed time and mostly in the past: an answer about one is signed at the moment of its newest
/// event, not at that of the request. Otherwise a later event would look older than the answer.
struct Subscriber: Sendable {
    struct Transaction: Sendable {
        var purchase: Purchase
        /// The date of the event that said so.
        var signedAt: Date
        /// Rises with every change of the app's history: Apple's order "by modified date".
        var revision: Int64
        var isFinished = false
    }

    /// The newest event: the customer and the current status.
    var newest: EventPayload
    var transactions: [Transaction] = []
    /// When it gives access, by its newest event that changed it.
    var access: [ExpectedAccess.Period] = []
    /// For Apple's limit, two within 365 days.
    var extensions: [Date] = []
    /// Positions of its notifications in the app's history, rising.
    var notifications: [Int] = []

    init(newest: EventPayload) { self.newest = newest }

    /// The current state with the newest transaction: in a refund flow the newest notification showed another.
    var current: EventPayload {
        var current = newest
        current.purchase = transactions.last?.purchase
        return current
    }

    /// Applies an event.
    /// - Parameter revise: returns the next revision.
    mutating func note(_ event: EventPayload, of purchase: Purchase, revise: () -> Int64) {
        if let access = event.access { self.access = access }
        if let place = transactions.lastIndex(where: { $0.purchase.transactionId == purchase.transactionId }) {
            if transactions[place].signedAt < event.signedDate {
                var changed = purchase
                changed.isUpgraded = transactions[place].purchase.isUpgraded
                transactions[place].signedAt = event.signedDate
                if transactions[place].purchase != changed {
                    transactions[place].purchase = changed
                    transactions[place].revision = revise()
                }
            }
        } else {
            if event.kind.subtype == .upgrade {
                for place in transactions.indices
                where transactions[place].purchase.expiresDate.map({ $0 > event.signedDate }) ?? false {
                    transactions[place].purchase.isUpgraded = true
                    transactions[place].revision = revise()
                }
            }
            transactions.append(Transaction(purchase: purchase, signedAt: event.signedDate, revision: revise()))
        }
        if event.signedDate > newest.signedDate { newest = event }
    }
}
