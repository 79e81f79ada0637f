import Records
import StrictJSON

import struct Foundation.Date
import struct Foundation.UUID

/// A notification changed a purchase: what happened, every change, and the state after it. One message per
/// notification and purchase, at least once, and of one purchase in the order of processing; a repetition has the same
/// ``id``.
public struct SubscriptionChanged: TopicMessage, Hashable {
    /// Where the purchase was made.
    public var environment: StoreEnvironment
    /// Apple's id of the first transaction.
    public var originalTransactionId: String
    /// Bundle identifier of the app.
    public var bundleId: String
    /// What happened, by Apple's type, or type and subtype: `DID_RENEW`, `EXPIRED/VOLUNTARY`.
    public var event: String
    /// Everything that changed; never empty.
    public var changes: [FactChange]
    /// The purchase after it.
    public var state: State
    /// The revision of the purchase: of two messages about it the one with the greater revision is the newer.
    public var revision: Int64
    /// The notification that caused it.
    public var notificationUUID: UUID
    /// By Apple's clock.
    public var occurredAt: Date
    /// By the state-updater's clock.
    public var appliedAt: Date
    /// W3C trace context of the request that brought the notification; nil where there was none.
    public var traceparent: String?

    /// The state of a purchase.
    public struct State: Sendable, Hashable {
        /// Apple's status: 1 active, 2 expired, 3 billing retry, 4 grace period, 5 revoked; nil where Apple gave none.
        public var status: Int64?
        /// The product; nil where none is known.
        public var productId: String?
        /// Whether it gives access at ``SubscriptionChanged/appliedAt``.
        public var hasAccess: Bool
        /// When access ends unless something changes; nil without access, and where it does not end.
        public var accessUntil: Date?
        /// Whether it will renew; nil where that is not known.
        public var isAutoRenewing: Bool?

        /// The state of a purchase.
        public init(
            status: Int64?, productId: String?, hasAccess: Bool, accessUntil: Date?, isAutoRenewing: Bool?
        ) {
            self.status = status
            self.productId = productId
            self.hasAccess = hasAccess
            self.accessUntil = accessUntil
            self.isAutoRenewing = isAutoRenewing
        }
    }

    /// The event of a purchase.
    public init(
        environment: StoreEnvironment, originalTransactionId: String, bundleId: String, event: String,
        changes: [FactChange], state: State, revision: Int64, notificationUUID: UUID, occurredAt: Date,
        appliedAt: Date, traceparent: String?
    ) {
        self.environment = environment
        self.originalTransactionId = originalTransactionId
        self.bundleId = bundleId
        self.event = event
        self.changes = changes
        self.state = state
        self.revision = revision
        self.notificationUUID = notificationUUID
        self.occurredAt = occurredAt
        self.appliedAt = appliedAt
        self.traceparent = traceparent
    }

    private static let version: Int64 = 1

    /// The same in every repetition and of no other message.
    public var id: String { "\(notificationUUID.uuidString.lowercased())/\(originalTransactionId)" }

    /// Reads the message from a record.
    public init(_ record: WireRecord) throws(ContractFault) {
        let message = try MessageReader(record.value, version: Self.version)
        guard let changes = message["changes"].flatMap({ FactChange.changes($0) }) else { throw .missing("changes") }
        guard let state = message["state"], let hasAccess = state["hasAccess"]?.bool else { throw .missing("state") }
        self.init(
            environment: try message.environment(), originalTransactionId: try message.string("originalTransactionId"),
            bundleId: try message.string("bundleId"), event: try message.string("event"), changes: changes,
            state: State(
                status: state["status"]?.int64, productId: state["productId"]?.string, hasAccess: hasAccess,
                accessUntil: state["accessUntil"]?.int64.map { Date(milliseconds: $0) },
                isAutoRenewing: state["isAutoRenewing"]?.bool),
            revision: try message.integer("revision"), notificationUUID: try message.uuid("notificationUUID"),
            occurredAt: Date(milliseconds: try message.integer("occurredAt")),
            appliedAt: Date(milliseconds: try message.integer("appliedAt")),
            traceparent: record.header(Headers.traceparent))
    }

    /// The record that carries the message.
    public func record() -> WireRecord {
        var json = JSONWriter(capacity: 1024)
        json.beginObject()
        json.member("version", Self.version)
        json.member("environment", environment.rawValue)
        json.member("originalTransactionId", originalTransactionId)
        json.member("bundleId", bundleId)
        json.member("event", event)
        json.member("changes", raw: FactChange.json(changes))
        json.beginObject("state")
        json.member("status", state.status)
        json.member("productId", state.productId)
        json.member("hasAccess", state.hasAccess)
        json.member("accessUntil", state.accessUntil?.milliseconds)
        json.member("isAutoRenewing", state.isAutoRenewing)
        json.endObject()
        json.member("revision", revision)
        json.member("notificationUUID", notificationUUID.uuidString.lowercased())
        json.member("occurredAt", occurredAt.milliseconds)
        json.member("appliedAt", appliedAt.milliseconds)
        json.endObject()
        var headers = Headers.cloudEvent(
            id: id, type: "storekeeper.subscription.changed", environment: environment, bundleId: bundleId)
        if let traceparent { headers.append(WireHeader(Headers.traceparent, traceparent)) }
        return WireRecord(key: Array(originalTransactionId.utf8), value: json.bytes, headers: headers)
    }
}
