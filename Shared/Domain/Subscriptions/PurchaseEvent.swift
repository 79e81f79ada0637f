import struct Foundation.Date

/// What one verified notification reports about one subscription or one-time purchase.
public struct PurchaseEvent: Sendable, Equatable {
    /// The purchase; Kafka's record key, so it decides the partition.
    public var key: SubscriptionKey
    /// The age of the event by Apple's clock.
    public var version: EventVersion
    /// The app, by its bundle identifier.
    public var bundleId: String
    /// Apple's `notificationType`, raw, so that an unknown one is kept.
    public var notificationType: String
    /// Apple's `subtype`, raw; nil where the type has none.
    public var subtype: String?
    /// Apple's `status` raw value (1 active … 5 revoked), nil where the notification has none.
    public var status: Int?
    /// The transaction in the notification.
    public var transaction: TransactionFacts?
    /// The renewal info in the notification.
    public var renewal: RenewalFacts?
    /// Why the customer requests a refund, in Apple's spelling; only a `CONSUMPTION_REQUEST` has it. Used in the
    /// description and not part of the state.
    public var consumptionRequestReason: String?
    /// Whether items of Advanced Commerce were refunded or revoked, and the transaction goes on with what is left. Used in the description and
    /// for anomalies; not part of the state.
    public var isRefundOfItems: Bool
    /// The `originalTransactionId` in the renewal info, compared with the key: a renewal info of another purchase is
    /// ignored. Nil where the renewal info has none.
    public var renewalOriginalTransactionId: String?
    /// Paths of Apple's fields that hold a value unknown to this build, such as `data.status`.
    public var unknownFields: [String]
    /// Paths of Apple's fields that hold another JSON type than Apple documents; they count as missing.
    public var unreadableFields: [String]

    package init(
        key: SubscriptionKey, version: EventVersion, bundleId: String, notificationType: String, subtype: String?,
        status: Int?, transaction: TransactionFacts?, renewal: RenewalFacts?,
        consumptionRequestReason: String? = nil, isRefundOfItems: Bool = false,
        renewalOriginalTransactionId: String? = nil,
        unknownFields: [String] = [], unreadableFields: [String] = []
    ) {
        self.key = key
        self.version = version
        self.bundleId = bundleId
        self.notificationType = notificationType
        self.subtype = subtype
        self.status = status
        self.transaction = transaction
        self.renewal = renewal
        self.consumptionRequestReason = consumptionRequestReason
        self.isRefundOfItems = isRefundOfItems
        self.renewalOriginalTransactionId = renewalOriginalTransactionId
        self.unknownFields = unknownFields
        self.unreadableFields = unreadableFields
    }
}
