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
    /// Which fact, by Apple's name for it.
    public var fact: String
    /// The text before; nil where the fact was unknown. Cut after 4096 letters.
    public var from: String?
    /// The text after; nil where the fact is gone. Cut after 4096 letters.
    public var to: String?
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
        to: String?, notificationUUID: UUID, occurredAt: Date, learnedAt: Date, traceparent: String?
    ) {
        self.environment = environment
        self.originalTransactionId = originalTransactionId
        self.bundleId = bundleId
        self.fact = fact
        self.from = from
        self.to = to
        self.notificationUUID = notificationUUID
        self.occurredAt = occurredAt
        self.learnedAt = learnedAt
        self.traceparent = traceparent
    }

    private static let version: Int64 = 1

    /// The same in every repetition: a notification changes a fact once.
    public var id: String { "\(notificationUUID.uuidString.lowercased())/\(fact)" }

    /// Reads the message off a record.
    public init(_ record: WireRecord) throws(ContractFault) {
        let message = try MessageReader(record.value, version: Self.version)
        self.init(
            environment: try message.environment(), originalTransactionId: try message.string("originalTransactionId"),
            bundleId: try message.string("bundleId"), fact: try message.string("fact"), from: message["from"]?.string,
            to: message["to"]?.string, notificationUUID: try message.uuid("notificationUUID"),
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
