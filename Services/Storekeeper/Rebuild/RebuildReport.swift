import Storage
import Subscriptions

import struct Foundation.UUID

/// The result of a rebuild: the first differing rows, and a count per purchase.
struct RebuildReport: Sendable {
    /// A notification that this release cannot read.
    struct Unreadable: Sendable, Equatable {
        var uuid: UUID
        /// Nil where it concerns none.
        var purchase: SubscriptionKey?
        var reason: String
    }

    /// A purchase with differing rows.
    struct DifferingPurchase: Sendable {
        var rows: Int
        /// Of its differences.
        var fingerprint: Int
    }

    /// A purchase that was not repaired.
    struct SkippedPurchase: Sendable, Equatable {
        var key: SubscriptionKey
        var reason: String
    }

    /// What happened to the differences.
    enum RepairState: Sendable {
        case none
        case planned
        case declined
        case done
    }

    /// Maximum number of differing rows and unreadable notifications to print.
    let limit: Int
    /// Applied.
    var notifications = 0
    /// Read.
    var purchases = 0
    /// The first of them.
    private(set) var differences: [StateComparison.Difference] = []
    /// All rows that differed.
    private(set) var differing = 0
    /// Purchases that differ; after a repair, those that still do.
    private(set) var differingPurchases: [SubscriptionKey: DifferingPurchase] = [:]
    /// The first of them.
    private(set) var unreadable: [Unreadable] = []
    /// All of them.
    private(set) var unread = 0
    /// Their purchases.
    private var unreadPurchases: Set<SubscriptionKey> = []
    /// Purchases with notifications that retention deleted.
    var truncated = 0
    /// Purchases that changed during every comparison.
    var changing = 0
    var repairState = RepairState.none
    private(set) var repairedRows = 0
    private(set) var repairedPurchases = 0
    private(set) var skipped: [SkippedPurchase] = []
    /// The findings about consents that parents withdrew, which are about no purchase.
    var withdrawals = WithdrawalComparison.Findings()
    var repairedWithdrawals = 0

    init(limit: Int) { self.limit = limit }

    /// Purchases that were compared.
    var compared: Int { purchases - truncated - changing }

    var rowsOfDifferingPurchases: Int { differingPurchases.values.reduce(0) { $0 + $1.rows } }

    /// Whether every row of the compared purchases follows from the ledger. Comparing nothing proves nothing.
    var isClean: Bool {
        differing == repairedRows && unread == 0 && changing == 0 && (compared > 0 || purchases == 0)
            && withdrawals.differences.count == repairedWithdrawals
    }

    mutating func join(_ findings: StateComparison.Findings) {
        purchases += findings.purchases
        truncated += findings.cut.count
        differing += findings.differences.count
        differences += findings.differences.prefix(limit - differences.count)
        for (key, found) in Dictionary(grouping: findings.differences, by: \.key) {
            differingPurchases[key] = DifferingPurchase(rows: found.count, fingerprint: found.fingerprint)
        }
    }

    mutating func join(_ fault: Unreadable) {
        unread += 1
        if unreadable.count < limit { unreadable.append(fault) }
        if let purchase = fault.purchase { unreadPurchases.insert(purchase) }
    }

    /// Skips purchases that were rebuilt without some of their notifications.
    mutating func skipUnreadable() {
        for key in unreadPurchases.sorted() where differingPurchases.removeValue(forKey: key) != nil {
            skipped.append(SkippedPurchase(key: key, reason: "this release cannot read some of its notifications."))
        }
    }

    mutating func record(_ key: SubscriptionKey, _ outcome: StateRepair.Outcome) {
        switch outcome {
        case .repaired(let rows):
            repairedRows += differingPurchases.removeValue(forKey: key)?.rows ?? rows
            repairedPurchases += 1
        case .moved: skipped.append(SkippedPurchase(key: key, reason: "it changed after the comparison; run it again."))
        case .held: skipped.append(SkippedPurchase(key: key, reason: "the tables were locked; run it again."))
        case .taken:
            skipped.append(
                SkippedPurchase(key: key, reason: "another purchase holds one of its rows; run it again."))
        }
    }
}
