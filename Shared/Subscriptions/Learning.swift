/// What became of a piece of news.
public struct Learned: Sendable, Equatable {
    /// The state afterwards.
    public var subscription: Subscription
    /// False where every fact of the news was known in a newer version already: the news is history, not state.
    public var isAdvance: Bool
    /// Empty where nothing differed or the news was old.
    public var changes: [Change]

    /// All fields.
    public init(subscription: Subscription, isAdvance: Bool, changes: [Change]) {
        self.subscription = subscription
        self.isAdvance = isAdvance
        self.changes = changes
    }
}

extension Subscription {
    /// The state after a piece of news.
    ///
    /// Each part is the greatest it has seen in an order that the news alone decides, so that any order of arrival and
    /// any repetition ends in the same state. What cannot be kept that way (events, doubts) is a ``Mark``.
    /// - Parameter known: what was known before; nil at first sight.
    public static func learning(_ news: News, known: Subscription?) -> Learned {
        var next = known ?? Subscription(key: news.key, bundleId: news.bundleId, stamp: news.stamp)
        var isAdvance = known == nil
        if let status = news.status, news.stamp.supersedes(next.statusStamp) {
            next.status = status
            next.statusStamp = news.stamp
            isAdvance = true
        }
        if let transaction = news.transaction, next.isSuperseded(by: transaction, stamp: news.stamp) {
            next.transaction = transaction
            next.transactionStamp = news.stamp
            isAdvance = true
        }
        if let renewal = news.believedRenewal, news.stamp.supersedes(next.renewalStamp) {
            next.renewal = renewal
            next.renewalStamp = news.stamp
            isAdvance = true
        }
        if news.stamp > next.stamp {
            next.stamp = news.stamp
            isAdvance = true
        }
        if news.stamp < next.bundleStamp {
            if news.bundleId != next.bundleId { isAdvance = true }
            next.bundleStamp = news.stamp
            next.bundleId = news.bundleId
        }
        return Learned(
            subscription: next, isAdvance: isAdvance, changes: Change.between(known, next))
    }

    private func isSuperseded(by transaction: TransactionFacts, stamp: Stamp) -> Bool {
        guard let known = self.transaction, let knownStamp = transactionStamp else { return true }
        return TransactionRank(known, stamp: knownStamp) < TransactionRank(transaction, stamp: stamp)
    }
}

extension News {
    /// The renewal info, unless it says itself that it is about another purchase.
    var believedRenewal: RenewalFacts? {
        guard let name = renewalOriginalTransactionId, name != key.originalTransactionId else { return renewal }
        return nil
    }
}

extension Stamp {
    /// Whether news of this stamp replaces a fact of that one. The same stamp does not: a repetition changes nothing.
    func supersedes(_ known: Stamp?) -> Bool {
        guard let known else { return true }
        return self > known
    }
}
