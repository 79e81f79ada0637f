import Records
import StrictJSON

import struct Foundation.Date
import struct Foundation.UUID

/// A purchase changed, almost always by a notification: what happened, every change, and the state after it. One message per
/// event and purchase, at least once, and of one purchase in the order of processing; a repetition has the same ``id``.
///
/// Members are added within version 1: a reader ignores those that it does not know, and takes a missing one as not known.
public struct SubscriptionChanged: TopicMessage, Hashable {
    /// Where the purchase was made.
    public var environment: StoreEnvironment
    /// Apple's id of the first transaction.
    public var originalTransactionId: String
    /// Bundle identifier of the app.
    public var bundleId: String
    /// The account of the app that may use the purchase while it gives access: its owner, else the account whose claim counts. The
    /// account when the message was made, not when the purchase changed, so that a repetition may name another one. Lower-case UUID
    /// text; nil where no account may.
    public var appAccountToken: String?
    /// What happened, by Apple's type, or type and subtype: `DID_RENEW`, `EXPIRED/VOLUNTARY`. Events without a notification are
    /// `ACCESS_ENDED`, `PRODUCT_DURATION_SET` and `PURCHASE_TRANSFERRED`, and a ``SignedPart`` that said it before one did.
    public var event: String
    /// The transaction that the notification is about, in the newest version that was known when the message was made; of an event
    /// without a notification the purchase's current one. Nil where a notification is about none.
    public var transaction: Transaction?
    /// Everything that changed; never empty.
    public var changes: [FactChange]
    /// The purchase after it.
    public var state: State
    /// The revision of the purchase: of two messages about it the one with the greater revision is the newer.
    public var revision: Int64
    /// The id of the row of the timeline, the same in the topic, the feed and the timeline of the purchase. Of one purchase it rises with
    /// ``revision``; messages about different purchases may be published in another order. Nil in messages of an older build.
    public var sequence: Int64?
    /// The notification that caused it; a random id where none did.
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
        environment: StoreEnvironment, originalTransactionId: String, bundleId: String, appAccountToken: String? = nil,
        event: String, changes: [FactChange], state: State, transaction: Transaction? = nil, revision: Int64,
        sequence: Int64? = nil, notificationUUID: UUID, occurredAt: Date, appliedAt: Date, traceparent: String?
    ) {
        self.environment = environment
        self.originalTransactionId = originalTransactionId
        self.bundleId = bundleId
        self.appAccountToken = appAccountToken
        self.event = event
        self.changes = changes
        self.state = state
        self.transaction = transaction
        self.revision = revision
        self.sequence = sequence
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
            bundleId: try message.string("bundleId"), appAccountToken: message["appAccountToken"]?.string,
            event: try message.string("event"), changes: changes,
            state: State(
                status: state["status"]?.int64, productId: state["productId"]?.string, hasAccess: hasAccess,
                accessUntil: state["accessUntil"]?.int64.map { Date(milliseconds: $0) },
                isAutoRenewing: state["isAutoRenewing"]?.bool),
            transaction: message["transaction"].flatMap { Transaction($0) },
            revision: try message.integer("revision"), sequence: message["sequence"]?.int64,
            notificationUUID: try message.uuid("notificationUUID"),
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
        if let appAccountToken { json.member("appAccountToken", appAccountToken) }
        json.member("event", event)
        json.member("changes", raw: FactChange.json(changes))
        json.beginObject("state")
        json.member("status", state.status)
        json.member("productId", state.productId)
        json.member("hasAccess", state.hasAccess)
        json.member("accessUntil", state.accessUntil?.milliseconds)
        json.member("isAutoRenewing", state.isAutoRenewing)
        json.endObject()
        if let transaction {
            json.beginObject("transaction")
            transaction.write(to: &json)
            json.endObject()
        }
        json.member("revision", revision)
        if let sequence { json.member("sequence", sequence) }
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
