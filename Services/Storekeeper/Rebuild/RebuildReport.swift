import Storage
import Subscriptions

import struct Foundation.UUID

/// What a rebuild came to. However many rows differ, it keeps the first of them and a number for each purchase.
struct RebuildReport: Sendable {
    /// A notification that this build cannot read, though an earlier one did.
    struct Unreadable: Sendable, Equatable {
        var uuid: UUID
        /// Nil where it is about none.
        var purchase: SubscriptionKey?
        var reason: String
    }

    /// A purchase of which rows differ.
    struct Suspect: Sendable {
        var rows: Int
        /// Of its differences.
        var fingerprint: Int
    }

    /// A purchase that was not put right.
    struct Left: Sendable, Equatable {
        var key: SubscriptionKey
        var reason: String
    }

    /// What became of what differs.
    enum Remedy: Sendable {
        case none
        case planned
        case declined
        case done
    }

    /// How many differing rows and unreadable notifications are kept to be told.
    let limit: Int
    /// Read again.
    var notifications = 0
    /// Looked at.
    var purchases = 0
    /// The first of them.
    private(set) var differences: [BeliefComparison.Difference] = []
    /// All rows that differed.
    private(set) var differing = 0
    /// Purchases that differ; after a remedy, those that still do.
    private(set) var suspects: [SubscriptionKey: Suspect] = [:]
    /// The first of them.
    private(set) var unreadable: [Unreadable] = []
    /// All of them.
    private(set) var unread = 0
    /// Purchases that they are about.
    private var unreadPurchases: Set<SubscriptionKey> = []
    /// Purchases of whose notifications retention has taken some.
    var cut = 0
    /// Purchases that were written to each time they were looked at.
    var restless = 0
    var remedy = Remedy.none
    private(set) var repairedRows = 0
    private(set) var repairedPurchases = 0
    private(set) var left: [Left] = []

    init(limit: Int) { self.limit = limit }

    /// Purchases that were compared to the end.
    var judged: Int { purchases - cut - restless }

    var suspectRows: Int { suspects.values.reduce(0) { $0 + $1.rows } }

    /// Whether it is proven that every row of what could be judged follows from the ledger, now. Nothing judged proves
    /// nothing.
    var isClean: Bool {
        differing == repairedRows && unread == 0 && restless == 0 && (judged > 0 || purchases == 0)
    }

    mutating func join(_ findings: BeliefComparison.Findings) {
        purchases += findings.purchases
        cut += findings.cut.count
        differing += findings.differences.count
        differences += findings.differences.prefix(limit - differences.count)
        for (key, found) in Dictionary(grouping: findings.differences, by: \.key) {
            suspects[key] = Suspect(rows: found.count, fingerprint: found.fingerprint)
        }
    }

    mutating func join(_ fault: Unreadable) {
        unread += 1
        if unreadable.count < limit { unreadable.append(fault) }
        if let purchase = fault.purchase { unreadPurchases.insert(purchase) }
    }

    /// What was rebuilt without some of its notifications says nothing of what should stand there.
    mutating func leaveUnread() {
        for key in unreadPurchases.sorted() where suspects.removeValue(forKey: key) != nil {
            left.append(Left(key: key, reason: "this build cannot read some of its notifications."))
        }
    }

    mutating func settle(_ key: SubscriptionKey, _ outcome: BeliefRepair.Outcome) {
        switch outcome {
        case .repaired(let rows):
            suspects[key] = nil
            repairedRows += rows
            repairedPurchases += 1
        case .moved: left.append(Left(key: key, reason: "it changed after it was compared; run it again."))
        case .held: left.append(Left(key: key, reason: "somebody held the tables; run it again."))
        case .taken:
            left.append(
                Left(key: key, reason: "another purchase has a row of its; run it again, it may be right then."))
        }
    }
}
