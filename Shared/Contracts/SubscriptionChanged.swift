import StrictJSON

import struct Foundation.Date
import struct Foundation.UUID

/// One fact of a purchase that became another. For whoever wants to know, at least once, of one purchase in the order in
/// which we learned; repeats have the same ``id``.
public struct SubscriptionChanged: TopicMessage, Hashable {
    /// Where the purchase was made.
    public var environment: StoreEnvironment
    /// Apple's id of the first transaction.
    public var originalTransactionId: String
    /// The app.
    public var bundleId: String
    /// Which fact, by Apple's name for it; ours are ``sharedAccount`` and those that begin with `earlier`.
    public var fact: String
    /// The text before; nil where the fact was unknown. Cut after 4096 letters.
    public var from: String?
    /// The text after; nil where the fact is gone. Cut after 4096 letters.
    public var to: String?
    /// The transaction that the fact is about, where that is not the purchase's current one.
    public var transactionId: String?
    /// The notification that told.
    public var notificationUUID: UUID
    /// By Apple's clock.
    public var occurredAt: Date
    /// By ours.
    public var learnedAt: Date
    /// W3C trace context of the request that brought the notification; nil where there was none.
    public var traceparent: String?

    /// All fields.
    public init(
        environment: StoreEnvironment, originalTransactionId: String, bundleId: String, fact: String, from: String?,
        to: String?, transactionId: String? = nil, notificationUUID: UUID, occurredAt: Date, learnedAt: Date,
        traceparent: String?
    ) {
        self.environment = environment
        self.originalTransactionId = originalTransactionId
        self.bundleId = bundleId
        self.fact = fact
        self.from = from
        self.to = to
        self.transactionId = transactionId
        self.notificationUUID = notificationUUID
        self.occurredAt = occurredAt
        self.learnedAt = learnedAt
        self.traceparent = traceparent
    }

    private static let version: Int64 = 1

    /// The fact that an account of the app (`to`) was found on the Apple account of another one (`from`).
    public static let sharedAccount = "sharedAccount"

    /// The same in every repetition and of no other change: a notification changes a fact once, but may show several
    /// accounts on one Apple account.
    public var id: String {
        let id = "\(notificationUUID.uuidString.lowercased())/\(fact)"
        guard fact == Self.sharedAccount, let to else { return id }
        return "\(id)/\(to)"
    }

    /// Reads the message off a record.
    public init(_ record: WireRecord) throws(ContractFault) {
        let message = try MessageReader(record.value, version: Self.version)
        self.init(
            environment: try message.environment(), originalTransactionId: try message.string("originalTransactionId"),
            bundleId: try message.string("bundleId"), fact: try message.string("fact"), from: message["from"]?.string,
            to: message["to"]?.string, transactionId: message["transactionId"]?.string,
            notificationUUID: try message.uuid("notificationUUID"),
            occurredAt: Date(milliseconds: try message.integer("occurredAt")),
            learnedAt: Date(milliseconds: try message.integer("learnedAt")),
            traceparent: record.header(Headers.traceparent))
    }

    /// The record that carries the message.
    public func record() -> WireRecord {
        var json = JSONWriter()
        json.beginObject()
        json.member("version", Self.version)
        json.member("environment", environment.rawValue)
        json.member("originalTransactionId", originalTransactionId)
        json.member("bundleId", bundleId)
        json.member("fact", fact)
        json.member("from", from)
        json.member("to", to)
        if let transactionId { json.member("transactionId", transactionId) }
        json.member("notificationUUID", notificationUUID.uuidString.lowercased())
        json.member("occurredAt", occurredAt.milliseconds)
        json.member("learnedAt", learnedAt.milliseconds)
        json.endObject()
        var headers = Headers.cloudEvent(
            id: id, type: "storekeeper.subscription.changed", environment: environment, bundleId: bundleId)
        if let traceparent { headers.append(WireHeader(Headers.traceparent, traceparent)) }
        return WireRecord(key: Array(originalTransactionId.utf8), value: json.bytes, headers: headers)
    }
}
