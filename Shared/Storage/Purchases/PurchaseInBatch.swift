import Contracts
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// A purchase while a batch is applied to it: the stored state and the state after the events so far.
struct PurchaseInBatch: Sendable {
    /// The state after the events so far; nil before the first event.
    private(set) var subscription: Subscription?
    /// The newest version of each transaction.
    private var transactions: [String: TransactionVersion] = [:]
    /// The newest that is known about a refund of each transaction; complete where the batch has an event about one.
    private var refunds: [String: RefundRequest] = [:]
    /// The access periods after the events so far.
    private(set) var periods: Set<AccessPeriodRow> = []
    /// The notification whose status the known transactions do not explain, after the events so far.
    private(set) var unexplainedStatus: UUID?
    /// The same as it is stored.
    private(set) var readUnexplainedStatus: UUID?
    /// The stored revision: how often the purchase has changed.
    private(set) var readRevision: Int64 = 0
    /// The revision after the events so far.
    private(set) var revision: Int64 = 0
    /// When a migration replaced the purchase; nil where none did.
    private(set) var migratedAt: Date?
    /// The stored access periods.
    private(set) var readPeriods: Set<AccessPeriodRow> = []
    /// What is stored of it that decides who may use it; nil where it is not stored.
    private(set) var readOwned: OwnedPurchase?

    /// A purchase that is not stored.
    /// - Parameter migratedAt: when a migration that is stored replaced it.
    init(migratedAt: Date? = nil) { self.migratedAt = migratedAt }

    /// A stored purchase.
    init(
        _ known: SubscriptionRevision, transactions: [TransactionVersion], periods: Set<AccessPeriodRow>,
        migratedAt: Date?
    ) {
        self.migratedAt = migratedAt
        subscription = known.subscription
        (readRevision, revision) = (known.revision, known.revision)
        (readUnexplainedStatus, unexplainedStatus) = (known.unexplainedStatus, known.unexplainedStatus)
        for version in transactions { self.transactions[version.facts.transactionId] = version }
        (readPeriods, self.periods) = (periods, periods)
        readOwned = OwnedPurchase(known.subscription, transactions)
    }

    /// What decides who may use it, after the events so far.
    var owned: OwnedPurchase? { subscription.map { OwnedPurchase($0, versions) } }

    /// The newest version of each transaction, in no order.
    var versions: [TransactionVersion] { Array(transactions.values) }

    var isWritten: Bool { revision != readRevision }

    /// Takes what is stored about refunds of its transactions.
    mutating func know(_ refunds: [RefundRequest]) {
        for refund in refunds { self.refunds[refund.transactionId] = refund }
    }

    /// The effect of an event.
    struct Outcome {
        /// False where newer versions of all facts of the event were stored already.
        var hasAdvanced: Bool
        /// The row of the timeline with its changes; nil where nothing changed.
        var row: TimelineRow?
    }

    /// Applies an event.
    /// - Parameters:
    ///   - durations: the configured durations of non-renewing products.
    ///   - now: the clock of this process.
    mutating func apply(
        _ event: PurchaseEvent, durations: ProductDurations, traceparent: String?, at now: Date
    ) throws -> Outcome {
        let transition = Subscription.applying(event, known: subscription)
        let isNewVersion = keep(event.transaction.map { TransactionVersion($0, version: event.version) })
        let refund = RefundRequest(event)
        let (isNewRefund, refundChange) = refund.map { keep($0) } ?? (false, nil)
        let isChanged = transition.subscription != subscription
        subscription = transition.subscription
        let hasAdvanced = transition.didChange || isNewRefund
        guard isChanged || isNewVersion || refundChange != nil else { return Outcome(hasAdvanced: hasAdvanced) }
        var changes = transition.changes.map { FactChange(fact: $0.fact.rawValue, from: $0.from, to: $0.to) }
        if isNewVersion, let earlier = EarlierTransaction(event, of: transition.subscription, at: now) {
            changes.append(
                FactChange(
                    fact: earlier.fact.rawValue, from: nil, to: earlier.text, transactionId: earlier.transactionId))
        }
        if let refundChange { changes.append(refundChange) }
        let (known, unexplained) = (periods, unexplainedStatus)
        if let change = try decideAccess(transition.subscription, durations, at: now) { changes.append(change) }
        if isChanged || !changes.isEmpty || periods != known || unexplainedStatus != unexplained { revision += 1 }
        guard !changes.isEmpty else { return Outcome(hasAdvanced: hasAdvanced) }
        return Outcome(
            hasAdvanced: hasAdvanced,
            row: row(
                event.eventName, event.version, changes, transition.subscription, traceparent: traceparent, at: now))
    }

    /// Ends access by a migration to another purchase.
    /// - Parameter event: of the other purchase; it names this one.
    /// - Returns: the row of the timeline; nil where access at `now` did not change.
    mutating func migrate(
        by event: PurchaseEvent, durations: ProductDurations, traceparent: String?, at now: Date
    ) throws -> TimelineRow? {
        guard let date = event.transaction?.beginning, date < migratedAt ?? .distantFuture else { return nil }
        migratedAt = date
        guard let subscription else { return nil }
        let known = periods
        let change = try decideAccess(subscription, durations, at: now)
        if periods != known { revision += 1 }
        return change.map {
            row(event.eventName, event.version, [$0], subscription, traceparent: traceparent, at: now)
        }
    }

    /// Recalculates access after the duration of a product was set.
    /// - Returns: the row of the timeline; nil where access at `now` did not change.
    mutating func recalculate(durations: ProductDurations, at now: Date) throws -> TimelineRow? {
        guard let subscription else { return nil }
        let known = periods
        let change = try decideAccess(subscription, durations, at: now)
        if periods != known { revision += 1 }
        guard let change else { return nil }
        // No notification caused the event, so it gets a new id.
        let version = EventVersion(signedDate: now, notificationUUID: UUID())
        return row(TimelineRow.productDurationSet, version, [change], subscription, traceparent: nil, at: now)
    }

    /// Tells that access ended by the clock.
    /// - Parameters:
    ///   - end: the first moment without access.
    ///   - now: the clock of this process.
    /// - Returns: the row of the timeline; nil where access does not end then, or is given at `now` all the same.
    mutating func ended(at end: Date, now: Date) -> TimelineRow? {
        guard let subscription, let last = periods.first(where: { $0.endsAt == end }),
            !periods.contains(where: { $0.contains(end) || $0.contains(now) })
        else { return nil }
        revision += 1
        let earlier = last.transactionId == subscription.transaction?.transactionId ? nil : last.transactionId
        let change = FactChange(
            fact: FactChange.accessUntil, from: end.iso8601, to: Self.text((false, nil)), transactionId: earlier)
        // No notification caused the event, so it gets a new id.
        let version = EventVersion(signedDate: end, notificationUUID: UUID())
        return row(TimelineRow.accessEnded, version, [change], subscription, traceparent: nil, at: now)
    }

    /// Tells that a restore moved the purchase between accounts of the app.
    mutating func transferred(from: String, to: String, version: EventVersion, at now: Date) -> TimelineRow? {
        guard let subscription else { return nil }
        revision += 1
        return row(
            TimelineRow.purchaseTransferred, version,
            [FactChange(fact: FactChange.account, from: from, to: to)], subscription, traceparent: nil, at: now)
    }

    /// Keeps what an event says about a refund unless something newer is known.
    /// - Returns: whether it was newer, and the change of the fact; nil where it says the same again.
    private mutating func keep(_ refund: RefundRequest) -> (isNew: Bool, change: FactChange?) {
        let known = refunds[refund.transactionId]
        guard refund.version.supersedes(known?.version) else { return (false, nil) }
        refunds[refund.transactionId] = refund
        guard refund.status != known?.status else { return (true, nil) }
        return (
            true,
            FactChange(
                fact: FactChange.refundRequest, from: known?.status.rawValue, to: refund.status.rawValue,
                transactionId: refund.transactionId)
        )
    }

    /// Keeps a version of a transaction unless a newer one is there.
    private mutating func keep(_ version: TransactionVersion?) -> Bool {
        guard let version else { return false }
        if let known = transactions[version.facts.transactionId], !known.isOlder(than: version) { return false }
        transactions[version.facts.transactionId] = version
        return true
    }

    /// - Returns: the change of access at `now`; nil where it did not change.
    private mutating func decideAccess(
        _ subscription: Subscription, _ durations: ProductDurations, at now: Date
    ) throws -> FactChange? {
        let before = periods.access(at: now)
        let schedule = AccessSchedule(
            of: PurchaseSnapshot(
                subscription: subscription, transactions: Array(transactions.values), migratedAt: migratedAt),
            durations: durations[subscription.bundleId] ?? [:])
        periods = try Set(schedule.periods.map { try AccessPeriodRow($0, of: subscription) })
        unexplainedStatus = schedule.unexplainedStatus
        let access = periods.access(at: now)
        guard before != access else { return nil }
        return FactChange(fact: FactChange.accessUntil, from: Self.text(before), to: Self.text(access))
    }

    private func row(
        _ event: String, _ version: EventVersion, _ changes: [FactChange], _ subscription: Subscription,
        traceparent: String?, at now: Date
    ) -> TimelineRow {
        let access = periods.access(at: now)
        return TimelineRow(
            id: 0, key: subscription.key, bundleId: subscription.bundleId, event: event, changes: changes,
            state: SubscriptionChanged.State(
                status: subscription.status.map { Int64($0) },
                productId: periods.first { $0.contains(now) }?.productId ?? subscription.transaction?.productId,
                hasAccess: access.isGiven, accessUntil: access.until,
                isAutoRenewing: subscription.renewal?.autoRenewStatus),
            revision: revision, notificationUUID: version.notificationUUID, occurredAt: version.signedDate,
            appliedAt: now, traceparent: traceparent)
    }

    private static func text(_ access: (isGiven: Bool, until: Date?)) -> String {
        guard access.isGiven else { return "none" }
        return access.until?.iso8601 ?? "open"
    }
}
