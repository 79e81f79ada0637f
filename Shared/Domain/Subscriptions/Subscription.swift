/// The newest facts known of one subscription or one-time purchase.
///
/// Status, transaction and renewal info each carry the version of the event they came from, because a notification need
/// not hold all three. Only a newer event replaces status and renewal info, and only a transaction of a greater
/// ``TransactionOrder`` replaces the transaction, so any order of arrival and any repetition ends in the same state.
public struct Subscription: Sendable, Equatable {
    /// The purchase; Kafka's record key, so it decides the partition.
    public var key: SubscriptionKey
    /// The app of the oldest event. Later events of another app do not change it; the ledger holds them all.
    public var bundleId: String
    /// The version of the oldest event of any type.
    public var bundleIdVersion: EventVersion
    /// The version of the newest event of any type.
    public var version: EventVersion
    /// Apple's `status` raw value (1 active … 5 revoked), nil where no notification had one.
    public var status: Int?
    /// The version of the event that `status` came from.
    public var statusVersion: EventVersion?
    /// The transaction in the event that `status` came from; the status is about it. Nil where the event held none.
    public var statusTransactionId: String?
    /// The current transaction: the last one bought, in its newest version.
    public var transaction: TransactionFacts?
    /// The version of the event that `transaction` came from.
    public var transactionVersion: EventVersion?
    /// The newest renewal info known.
    public var renewal: RenewalFacts?
    /// The version of the event that `renewal` came from.
    public var renewalVersion: EventVersion?
    /// The grace periods that Apple granted, also those that are over.
    public var graces = GraceHistory()

    package init(
        key: SubscriptionKey, bundleId: String, version: EventVersion, status: Int? = nil,
        statusVersion: EventVersion? = nil, statusTransactionId: String? = nil, transaction: TransactionFacts? = nil,
        transactionVersion: EventVersion? = nil, renewal: RenewalFacts? = nil
    ) {
        self.key = key
        self.bundleId = bundleId
        self.bundleIdVersion = version
        self.version = version
        self.status = status
        self.statusVersion = statusVersion
        self.statusTransactionId = statusTransactionId
        self.transaction = transaction
        self.transactionVersion = transactionVersion
        self.renewal = renewal
    }
}
