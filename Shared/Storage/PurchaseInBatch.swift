import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date

/// A purchase while a batch is applied to it: as it was read, and as it is by now.
struct PurchaseInBatch: Sendable {
    /// As it is; nil before its first event.
    private(set) var subscription: Subscription?
    /// The newest version of each of its transactions.
    private var transactions: [String: TransactionVersion] = [:]
    /// When it gives access.
    private(set) var periods: Set<AccessPeriodRow> = []
    /// How often it changed; what it was read with and what it is by now.
    private(set) var readRevision: Int64 = 0
    private(set) var revision: Int64 = 0
    /// As they were read.
    private(set) var readPeriods: Set<AccessPeriodRow> = []

    /// A purchase that nothing is known of.
    init() {}

    /// As it was read.
    init(_ known: SubscriptionRevision, transactions: [TransactionVersion], periods: Set<AccessPeriodRow>) {
        subscription = known.subscription
        (readRevision, revision) = (known.revision, known.revision)
        for version in transactions { self.transactions[version.facts.transactionId] = version }
        (readPeriods, self.periods) = (periods, periods)
    }

    var isWritten: Bool { revision != readRevision }

    /// What an event did.
    struct Outcome {
        /// False where everything that it says was known in a newer version.
        var hasAdvanced: Bool
        /// What it changed; nil where nothing did.
        var row: TimelineRow?
    }

    /// Applies an event.
    /// - Parameter now: by our clock.
    mutating func apply(_ event: PurchaseEvent, traceparent: String?, at now: Date) throws -> Outcome {
        let transition = Subscription.applying(event, known: subscription)
        let isNewVersion = keep(event.transaction.map { TransactionVersion($0, version: event.version) })
        let isChanged = transition.subscription != subscription
        subscription = transition.subscription
        guard isChanged || isNewVersion else { return Outcome(hasAdvanced: transition.isAdvance) }
        var changes = transition.changes.map { FactChange(fact: $0.fact.rawValue, from: $0.from, to: $0.to) }
        if isNewVersion, let earlier = EarlierTransaction(event, of: transition.subscription, at: now) {
            changes.append(
                FactChange(
                    fact: earlier.fact.rawValue, from: nil, to: earlier.text, transactionId: earlier.transactionId))
        }
        let known = periods
        let before = known.access(at: now)
        try decideAccess(transition.subscription)
        let access = periods.access(at: now)
        if before != access {
            changes.append(
                FactChange(fact: FactChange.accessUntil, from: Self.text(before), to: Self.text(access)))
        }
        if isChanged || !changes.isEmpty || periods != known { revision += 1 }
        guard !changes.isEmpty else { return Outcome(hasAdvanced: transition.isAdvance) }
        return Outcome(
            hasAdvanced: transition.isAdvance,
            row: row(event, changes, access, transition.subscription, traceparent, at: now))
    }

    /// Keeps a version of a transaction unless a newer one is there.
    private mutating func keep(_ version: TransactionVersion?) -> Bool {
        guard let version else { return false }
        if let known = transactions[version.facts.transactionId], !known.isOlder(than: version) { return false }
        transactions[version.facts.transactionId] = version
        return true
    }

    private mutating func decideAccess(_ subscription: Subscription) throws {
        let schedule = AccessSchedule(
            of: PurchaseSnapshot(subscription: subscription, transactions: Array(transactions.values)))
        periods = try Set(schedule.periods.map { try AccessPeriodRow($0, of: subscription) })
    }

    private func row(
        _ event: PurchaseEvent, _ changes: [FactChange], _ access: (isGiven: Bool, until: Date?),
        _ subscription: Subscription, _ traceparent: String?, at now: Date
    ) -> TimelineRow {
        TimelineRow(
            id: 0, key: event.key, bundleId: subscription.bundleId, event: event.eventName, changes: changes,
            state: SubscriptionChanged.State(
                status: subscription.status.map { Int64($0) },
                productId: periods.first { $0.contains(now) }?.productId ?? subscription.transaction?.productId,
                hasAccess: access.isGiven, accessUntil: access.until,
                isAutoRenewing: subscription.renewal?.autoRenewStatus),
            revision: revision, notificationUUID: event.version.notificationUUID,
            occurredAt: event.version.signedDate, learnedAt: now, traceparent: traceparent)
    }

    private static func text(_ access: (isGiven: Bool, until: Date?)) -> String {
        guard access.isGiven else { return "none" }
        return access.until?.iso8601 ?? "open"
    }
}

extension PurchaseInBatch {
    /// The purchases as they stand; a purchase that is not known has neither transactions nor periods.
    static func all(
        _ subscriptions: Rows, transactions: Rows, periods: Rows
    ) throws -> [SubscriptionKey: PurchaseInBatch] {
        let transactions = Dictionary(
            grouping: try transactions.map { row in try StoredTransaction.read(row) }, by: \.key)
        let periods = Dictionary(grouping: try periods.map { row in try AccessPeriodRow.read(row) }, by: \.key)
        var purchases: [SubscriptionKey: PurchaseInBatch] = [:]
        for row in subscriptions {
            let known = try SubscriptionColumns.read(row)
            let key = known.subscription.key
            purchases[key] = PurchaseInBatch(
                known, transactions: (transactions[key] ?? []).map(\.version), periods: Set(periods[key] ?? []))
        }
        return purchases
    }
}
