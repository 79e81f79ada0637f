/// The newest facts known of one subscription or one-time purchase.
///
/// Status, transaction and renewal info each carry the version of the event they came from, because a notification need
/// not hold all three. Status and renewal info are replaced by newer event only, the transaction by one of a greater
/// ``TransactionOrder`` only, so any order of arrival and any repetition ends in the same state.
public struct Subscription: Sendable, Equatable {
    /// What decides the partition.
    public var key: SubscriptionKey
    /// The app of the oldest event: another one that speaks of the purchase later does not take it away. All that ever
    /// spoke of it are in the ledger.
    public var bundleId: String
    /// The oldest event of any kind.
    public var bundleIdVersion: EventVersion
    /// The newest event of any kind.
    public var version: EventVersion
    /// Apple's `status` raw value (1 active … 5 revoked), nil where no notification had one.
    public var status: Int?
    /// The event that `status` came from.
    public var statusVersion: EventVersion?
    /// The transaction that the event of `status` held; the status is about it. Nil where it held none.
    public var statusTransactionId: String?
    /// The current transaction: the last one bought, in its newest version.
    public var transaction: TransactionFacts?
    /// The event that `transaction` came from.
    public var transactionVersion: EventVersion?
    /// The newest renewal info known.
    public var renewal: RenewalFacts?
    /// The event that `renewal` came from.
    public var renewalVersion: EventVersion?

    /// All fields.
    /// - Parameter bundleIdVersion: nil stands for `version`.
    public init(
        key: SubscriptionKey, bundleId: String, bundleIdVersion: EventVersion? = nil, version: EventVersion,
        status: Int? = nil,
        statusVersion: EventVersion? = nil, statusTransactionId: String? = nil, transaction: TransactionFacts? = nil,
        transactionVersion: EventVersion? = nil, renewal: RenewalFacts? = nil, renewalVersion: EventVersion? = nil
    ) {
        self.key = key
        self.bundleId = bundleId
        self.bundleIdVersion = bundleIdVersion ?? version
        self.version = version
        self.status = status
        self.statusVersion = statusVersion
        self.statusTransactionId = statusTransactionId
        self.transaction = transaction
        self.transactionVersion = transactionVersion
        self.renewal = renewal
        self.renewalVersion = renewalVersion
    }
}
