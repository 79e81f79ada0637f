/// The result of applying an event to the state of a purchase.
public struct Transition: Sendable, Equatable {
    /// The state after the event.
    public var subscription: Subscription
    /// Whether the event replaced any fact or version. False where newer versions of all its facts were stored already:
    /// the event is stale.
    public var didChange: Bool
    /// The facts that differ; empty where none does or the event was stale.
    public var changes: [Change]

    package init(subscription: Subscription, didChange: Bool, changes: [Change]) {
        self.subscription = subscription
        self.didChange = didChange
        self.changes = changes
    }
}

extension Subscription {
    /// Applies an event to the stored state.
    ///
    /// Each value is the greatest so far in an order that the events alone decide, so that any order of arrival and any
    /// repetition ends in the same state. Event types and anomalies cannot be kept that way; the ledger holds them.
    /// - Parameter known: the stored state; nil for the first event of a purchase.
    public static func applying(_ event: PurchaseEvent, known: Subscription?) -> Transition {
        var next = known ?? Subscription(key: event.key, bundleId: event.bundleId, version: event.version)
        var didChange = known == nil
        // A status that this build does not know decides nothing: what Apple said before counts.
        if let status = event.status, 1...5 ~= status, event.version.supersedes(next.statusVersion) {
            next.status = status
            next.statusVersion = event.version
            next.statusTransactionId = event.transaction?.transactionId
            didChange = true
        }
        if let transaction = event.transaction, next.isSuperseded(by: transaction, version: event.version) {
            next.transaction = transaction
            next.transactionVersion = event.version
            didChange = true
        }
        if let renewal = event.applicableRenewal, next.isSuperseded(by: renewal, version: event.version) {
            next.renewal = renewal
            next.renewalVersion = event.version
            didChange = true
        }
        if next.graces.join(event) { didChange = true }
        if event.version > next.version {
            next.version = event.version
            didChange = true
        }
        if event.version < next.bundleIdVersion {
            if event.bundleId != next.bundleId { didChange = true }
            next.bundleIdVersion = event.version
            next.bundleId = event.bundleId
        }
        return Transition(
            subscription: next, didChange: didChange, changes: Change.between(known, next))
    }

    private func isSuperseded(by transaction: TransactionFacts, version: EventVersion) -> Bool {
        guard let known = self.transaction, let knownVersion = transactionVersion else { return true }
        return TransactionOrder(known, version: knownVersion, in: key.environment)
            < TransactionOrder(transaction, version: version, in: key.environment)
    }

    /// Whether a renewal info supersedes the known one, by its own `signedDate`, because Apple may sign a notification
    /// again around an older renewal info.
    private func isSuperseded(by renewal: RenewalFacts, version: EventVersion) -> Bool {
        guard let known = self.renewal, let knownVersion = renewalVersion else { return true }
        guard renewal.signedDate == known.signedDate else { return renewal.signedDate > known.signedDate }
        return version > knownVersion
    }
}

extension PurchaseEvent {
    /// The renewal info, unless it names another purchase.
    var applicableRenewal: RenewalFacts? {
        guard let name = renewalOriginalTransactionId, name != key.originalTransactionId else { return renewal }
        return nil
    }
}

extension EventVersion {
    /// Whether an event of this version replaces a fact of the known one. The same version does not, so a redelivery
    /// changes nothing.
    package func supersedes(_ known: EventVersion?) -> Bool {
        guard let known else { return true }
        return self > known
    }
}
