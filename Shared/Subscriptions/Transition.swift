/// What became of a piece of event.
public struct Transition: Sendable, Equatable {
    /// The state afterwards.
    public var subscription: Subscription
    /// False where every fact of the event was known in a newer version already: the event is history, not state.
    public var isAdvance: Bool
    /// Empty where nothing differed or the event was old.
    public var changes: [Change]

    /// All fields.
    public init(subscription: Subscription, isAdvance: Bool, changes: [Change]) {
        self.subscription = subscription
        self.isAdvance = isAdvance
        self.changes = changes
    }
}

extension Subscription {
    /// The state after a piece of event.
    ///
    /// Each part is the greatest it has seen in an order that the event alone decides, so that any order of arrival and
    /// any repetition ends in the same state. What cannot be kept that way (events, anomalies) stays with the notifications.
    /// - Parameter known: what was known before; nil at first sight.
    public static func applying(_ event: PurchaseEvent, known: Subscription?) -> Transition {
        var next = known ?? Subscription(key: event.key, bundleId: event.bundleId, version: event.version)
        var isAdvance = known == nil
        if let status = event.status, event.version.supersedes(next.statusVersion) {
            next.status = status
            next.statusVersion = event.version
            next.statusTransactionId = event.transaction?.transactionId
            isAdvance = true
        }
        if let transaction = event.transaction, next.isSuperseded(by: transaction, version: event.version) {
            next.transaction = transaction
            next.transactionVersion = event.version
            isAdvance = true
        }
        if let renewal = event.believedRenewal, next.isSuperseded(by: renewal, version: event.version) {
            next.renewal = renewal
            next.renewalVersion = event.version
            isAdvance = true
        }
        if event.version > next.version {
            next.version = event.version
            isAdvance = true
        }
        if event.version < next.bundleIdVersion {
            if event.bundleId != next.bundleId { isAdvance = true }
            next.bundleIdVersion = event.version
            next.bundleId = event.bundleId
        }
        return Transition(
            subscription: next, isAdvance: isAdvance, changes: Change.between(known, next))
    }

    private func isSuperseded(by transaction: TransactionFacts, version: EventVersion) -> Bool {
        guard let known = self.transaction, let knownVersion = transactionVersion else { return true }
        return TransactionOrder(known, version: knownVersion) < TransactionOrder(transaction, version: version)
    }

    /// By its own date, because a notification may be signed again around an older renewal info.
    private func isSuperseded(by renewal: RenewalFacts, version: EventVersion) -> Bool {
        guard let known = self.renewal, let knownVersion = renewalVersion else { return true }
        guard renewal.signedDate == known.signedDate else { return renewal.signedDate > known.signedDate }
        return version > knownVersion
    }
}

extension PurchaseEvent {
    /// The renewal info, unless it says itself that it is about another purchase.
    var believedRenewal: RenewalFacts? {
        guard let name = renewalOriginalTransactionId, name != key.originalTransactionId else { return renewal }
        return nil
    }
}

extension EventVersion {
    /// Whether event of this version replaces a fact of that one. The same version does not: a repetition changes nothing.
    func supersedes(_ known: EventVersion?) -> Bool {
        guard let known else { return true }
        return self > known
    }
}
