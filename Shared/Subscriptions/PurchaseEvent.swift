import struct Foundation.Date

/// What one proven notification says about one subscription or one-time purchase.
public struct PurchaseEvent: Sendable, Equatable {
    /// What decides the partition.
    public var key: SubscriptionKey
    /// How new the event is.
    public var version: EventVersion
    /// The app, by its bundle identifier.
    public var bundleId: String
    /// Apple's `notificationType` and `subtype`, raw, so that an unknown one is kept.
    public var notificationType: String
    /// Apple's raw subtype, where the type has one.
    public var subtype: String?
    /// Apple's `status` raw value (1 active … 5 revoked), nil where the notification has none.
    public var status: Int?
    /// The newest transaction known.
    public var transaction: TransactionFacts?
    /// The newest renewal info known.
    public var renewal: RenewalFacts?
    /// Why the customer wants money back, in Apple's spelling; a `CONSUMPTION_REQUEST` alone has it. Read for the
    /// sentence and not part of any state.
    public var consumptionRequestReason: String?
    /// The `originalTransactionId` that the renewal info names. Only compared with the key: a renewal info of another
    /// purchase is not believed. Nil where it names none.
    public var renewalOriginalTransactionId: String?
    /// The fields, by the names of Apple's, that hold a value which this build does not know.
    public var unknownFields: [String]
    /// The fields that were to be read and hold another kind of value than Apple documents; they count as missing.
    public var unreadableFields: [String]

    /// All fields.
    public init(
        key: SubscriptionKey, version: EventVersion, bundleId: String, notificationType: String, subtype: String?,
        status: Int?, transaction: TransactionFacts?, renewal: RenewalFacts?,
        consumptionRequestReason: String? = nil, renewalOriginalTransactionId: String? = nil,
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
        self.renewalOriginalTransactionId = renewalOriginalTransactionId
        self.unknownFields = unknownFields
        self.unreadableFields = unreadableFields
    }
}
