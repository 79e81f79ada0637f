import Records
import StrictJSON

import struct Foundation.Date
import struct Foundation.UUID

/// A notification that Apple signed for a configured app: nothing optional that Apple always sends.
///
/// Or an object that Apple signed on its own: then the type is a ``SignedPart``, and the id is derived from it. Or a notification of
/// version 1, which has no signature: then the type is `V1`, the id is derived, `signedPayload` is empty, and it names no purchase.
///
/// The value is one JSON object, version 1. `decoded` is Apple's payload with its nested signed objects decoded in place;
/// `signedPayload` is the original, so that a later verifier can prove it again.
public struct VerifiedNotification: TopicMessage, Hashable {
    /// Apple's id of the notification; the same in every repetition.
    public var notificationUUID: UUID
    /// Apple's raw value; may be one this build does not know.
    public var notificationType: String
    /// Apple's raw subtype, where the type has one.
    public var subtype: String?
    /// Where the purchase was made.
    public var environment: StoreEnvironment
    /// The app, by its bundle identifier.
    public var bundleId: String
    /// Absent in the sandbox.
    public var appAppleId: Int64?
    /// Absent where the notification is about no single purchase (TEST, summaries).
    public var originalTransactionId: String?
    /// Apple's id of the newest transaction.
    public var transactionId: String?
    /// When Apple signed it: the only order. Absent in the oldest payloads.
    public var signedDate: Date?
    /// When it was received; millisecond precision.
    public var receivedAt: Date
    /// How it was received.
    public var source: NotificationSource
    /// W3C trace context, passed on unchanged.
    public var traceparent: String?
    /// A JSON object.
    public var decoded: [UInt8]
    /// A compact JWS.
    public var signedPayload: [UInt8]

    /// Nothing is checked here: the caller has verified the payload.
    public init(
        notificationUUID: UUID, notificationType: String, subtype: String?, environment: StoreEnvironment,
        bundleId: String, appAppleId: Int64?, originalTransactionId: String?, transactionId: String?,
        signedDate: Date?, receivedAt: Date, source: NotificationSource, traceparent: String?, decoded: [UInt8],
        signedPayload: [UInt8]
    ) {
        self.notificationUUID = notificationUUID
        self.notificationType = notificationType
        self.subtype = subtype
        self.environment = environment
        self.bundleId = bundleId
        self.appAppleId = appAppleId
        self.originalTransactionId = originalTransactionId
        self.transactionId = transactionId
        self.signedDate = signedDate
        self.receivedAt = receivedAt
        self.source = source
        self.traceparent = traceparent
        self.decoded = decoded
        self.signedPayload = signedPayload
    }

    private static let version: Int64 = 1

    /// One worker gets all notifications of one subscription; others spread by their own id.
    var key: String { originalTransactionId ?? notificationUUID.uuidString.lowercased() }

    /// The verifier states that Apple signed it.
    public static func needsSeal(_ record: WireRecord) -> Bool { true }

    /// Reads the message from a record.
    public init(_ record: WireRecord) throws(ContractFault) {
        let message = try MessageReader(record.value, version: Self.version)
        let uuid = try message.uuid("notificationUUID")
        let environment = try message.environment()
        guard let source = NotificationSource(rawValue: try message.string("source")) else { throw .missing("source") }
        guard let decoded = message["decoded"], decoded.kind == .object else { throw .missing("decoded") }
        guard let signedPayload = message["signedPayload"]?.unescapedBytes else { throw .missing("signedPayload") }
        self.init(
            notificationUUID: uuid, notificationType: try message.string("notificationType"),
            subtype: message["subtype"]?.string, environment: environment, bundleId: try message.string("bundleId"),
            appAppleId: message["appAppleId"]?.int64, originalTransactionId: message["originalTransactionId"]?.string,
            transactionId: message["transactionId"]?.string,
            signedDate: message["signedDate"]?.double.map { Date(timeIntervalSince1970: $0 / 1000) },
            receivedAt: Date(milliseconds: try message.integer("receivedAt")), source: source,
            traceparent: record.header(Headers.traceparent), decoded: Array(decoded.rawBytes),
            signedPayload: signedPayload)
    }

    /// The record that carries the message.
    public func record() -> WireRecord {
        let uuid = notificationUUID.uuidString.lowercased()
        var json = JSONWriter(capacity: decoded.count + signedPayload.count + 512)
        json.beginObject()
        json.member("version", Self.version)
        json.member("notificationUUID", uuid)
        json.member("notificationType", notificationType)
        json.member("subtype", subtype)
        json.member("environment", environment.rawValue)
        json.member("bundleId", bundleId)
        json.member("appAppleId", appAppleId)
        json.member("originalTransactionId", originalTransactionId)
        json.member("transactionId", transactionId)
        json.member("signedDate", signedDate.map { $0.timeIntervalSince1970 * 1000 })
        json.member("receivedAt", receivedAt.milliseconds)
        json.member("source", source.rawValue)
        json.member("decoded", raw: decoded)
        // The alphabet of a verified JWS needs no escapes.
        json.member("signedPayload", raw: [UInt8(ascii: "\"")] + signedPayload + [UInt8(ascii: "\"")])
        json.endObject()
        var headers = Headers.cloudEvent(
            id: uuid, type: "apple.app-store.\(notificationType)", environment: environment, bundleId: bundleId)
        if let traceparent { headers.append(WireHeader(Headers.traceparent, traceparent)) }
        return WireRecord(key: Array(key.utf8), value: json.bytes, headers: headers)
    }
}
