/// The newest facts known of one subscription or one-time purchase.
///
/// Status, transaction and renewal info each carry the stamp of the news they came from, because a notification need
/// not hold all three. Status and renewal info are replaced by newer news only, the transaction by one of a greater
/// ``TransactionRank`` only, so any order of arrival and any repetition ends in the same state.
public struct Subscription: Sendable, Equatable {
    /// What decides the partition.
    public var key: SubscriptionKey
    /// The app of the oldest news: another one that speaks of the purchase later does not take it away. All that ever
    /// spoke of it are in ``Marks/bundleIds``.
    public var bundleId: String
    /// The oldest news of any kind.
    public var bundleStamp: Stamp
    /// The newest news of any kind.
    public var stamp: Stamp
    /// Apple's `status` raw value (1 active … 5 revoked), nil where no notification had one.
    public var status: Int?
    /// The news that `status` came from.
    public var statusStamp: Stamp?
    /// The current transaction: the last one bought, in its newest version.
    public var transaction: TransactionFacts?
    /// The news that `transaction` came from.
    public var transactionStamp: Stamp?
    /// The newest renewal info known.
    public var renewal: RenewalFacts?
    /// The news that `renewal` came from.
    public var renewalStamp: Stamp?

    /// All fields.
    /// - Parameter bundleStamp: nil stands for `stamp`.
    public init(
        key: SubscriptionKey, bundleId: String, bundleStamp: Stamp? = nil, stamp: Stamp, status: Int? = nil,
        statusStamp: Stamp? = nil, transaction: TransactionFacts? = nil,
        transactionStamp: Stamp? = nil, renewal: RenewalFacts? = nil, renewalStamp: Stamp? = nil
    ) {
        self.key = key
        self.bundleId = bundleId
        self.bundleStamp = bundleStamp ?? stamp
        self.stamp = stamp
        self.status = status
        self.statusStamp = statusStamp
        self.transaction = transaction
        self.transactionStamp = transactionStamp
        self.renewal = renewal
        self.renewalStamp = renewalStamp
    }
}
