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
    /// - Parameter known: what was known before; nil at first sight.
    public static func learning(_ news: News, known: Subscription?) -> Learned {
        var next = known ?? Subscription(key: news.key, bundleId: news.bundleId, stamp: news.stamp)
        var isAdvance = known == nil
        if let status = news.status, news.stamp.supersedes(next.statusStamp) {
            next.status = status
            next.statusStamp = news.stamp
            isAdvance = true
        }
        if let transaction = news.transaction, news.stamp.supersedes(next.transactionStamp) {
            next.transaction = transaction
            next.transactionStamp = news.stamp
            isAdvance = true
        }
        if let renewal = news.renewal, news.stamp.supersedes(next.renewalStamp) {
            next.renewal = renewal
            next.renewalStamp = news.stamp
            isAdvance = true
        }
        if news.stamp > next.stamp {
            next.stamp = news.stamp
            isAdvance = true
        }
        return Learned(
            subscription: next, isAdvance: isAdvance, changes: Change.between(known, next))
    }
}

extension Stamp {
    /// Whether news of this stamp replaces a fact of that one. The same stamp does not: a repetition changes nothing.
    func supersedes(_ known: Stamp?) -> Bool {
        guard let known else { return true }
        return self > known
    }
}
