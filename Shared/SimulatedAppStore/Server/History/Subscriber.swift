import Foundation

/// What Apple knows of one purchase and its renewals.
///
/// Purchases happen in compressed time and mostly in the past: an answer about one is signed at the moment of its newest
/// event, not at that of the request. Otherwise a later event would look older than the answer.
struct Subscriber: Sendable {
    struct Transaction: Sendable {
        var purchase: Purchase
        /// The oldest event that said so.
        fileprivate(set) var first: EventPayload.Age
        /// The newest event that said so.
        fileprivate(set) var last: EventPayload.Age
        /// Rises with every change of the app's history: Apple's order "by modified date".
        var revision: Int64
        var isFinished = false
    }

    /// The newest event: the customer and the current status.
    var newest: EventPayload
    /// In the order of their oldest events.
    var transactions: [Transaction] = []
    /// When it gives access, by its newest event that changed it.
    private(set) var access: [ExpectedAccess.Period] = []
    private var accessAge: EventPayload.Age?
    /// The transactions that took the place of others, and when.
    private var upgrades: [(transactionId: String, age: EventPayload.Age)] = []
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

    /// Applies an event. The result is the same in whatever order events come, but for the revisions.
    /// - Parameter revise: returns the next revision.
    mutating func note(_ event: EventPayload, of purchase: Purchase, revise: () -> Int64) {
        let age = event.age
        if let access = event.access, accessAge.map({ $0 < age }) ?? true {
            self.access = access
            accessAge = age
        }
        if event.kind.subtype == .upgrade { upgrades.append((purchase.transactionId, age)) }
        // What it replaces changes before it is there; or it is itself older than an upgrade.
        markUpgraded(revise: revise)
        note(purchase, age, revise: revise)
        markUpgraded(revise: revise)
        if age > newest.age { newest = event }
    }

    private mutating func note(_ purchase: Purchase, _ age: EventPayload.Age, revise: () -> Int64) {
        var transaction = Transaction(purchase: purchase, first: age, last: age, revision: 0)
        if let place = transactions.lastIndex(where: { $0.purchase.transactionId == purchase.transactionId }) {
            let known = transactions[place]
            transaction.first = min(known.first, age)
            transaction.last = max(known.last, age)
            transaction.isFinished = known.isFinished
            transaction.purchase.isUpgraded = known.purchase.isUpgraded
            if age < known.last { transaction.purchase = known.purchase }
            transaction.revision = transaction.purchase == known.purchase ? known.revision : revise()
            guard transaction.first < known.first else {
                transactions[place] = transaction
                return
            }
            transactions.remove(at: place)
        } else {
            transaction.revision = revise()
        }
        let place = transactions.firstIndex { $0.first > transaction.first } ?? transactions.endIndex
        transactions.insert(transaction, at: place)
    }

    /// An upgrade ends the transactions before it that run.
    private mutating func markUpgraded(revise: () -> Int64) {
        for place in transactions.indices where !transactions[place].purchase.isUpgraded {
            let transaction = transactions[place]
            guard let end = transaction.purchase.expiresDate,
                upgrades.contains(where: { upgrade in
                    upgrade.transactionId != transaction.purchase.transactionId && transaction.first < upgrade.age
                        && upgrade.age.signedDate < end
                })
            else { continue }
            transactions[place].purchase.isUpgraded = true
            transactions[place].revision = revise()
        }
    }
}
