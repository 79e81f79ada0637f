import Records
import StrictJSON

import struct Foundation.Date
import struct Foundation.UUID

/// A notification that Apple signed for a configured app: nothing optional that Apple always sends.
///
/// Or an object that Apple signed on its own: then the type is a ``SignedPart``, and the id is derived from it. Or a notification of
/// version 1, which has no signature: then the type is `V1`, the id is derived, the original is empty, and it names no purchase.
///
/// The value is binary, version 2: see `VerifiedNotification+Value.swift`. `decoded` is Apple's payload with its nested signed objects
/// decoded in place; `original` is what Apple signed, so that a later verifier can prove it again.
public struct VerifiedNotification: TopicMessage, Hashable {
    /// The type of a notification of version 1, which Apple does not use. Its own `notification_type` is the subtype.
    public static let version1Type = "V1"

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
    /// A compact JWS, packed.
    public var original: SignedOriginal

    /// Nothing is checked here: the caller has verified the payload.
    ///
    /// - Parameter signedPayload: a compact JWS.
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
        original = SignedOriginal(encoding: signedPayload)
    }

    /// The compact JWS, byte for byte.
    public var signedPayload: [UInt8] {
        get throws(SignedOriginal.Damage) { try original.original() }
    }

    /// Whether it is of version 1, which has no signature: any client can post it.
    public var isVersion1: Bool { notificationType == Self.version1Type }

    /// Signed by Apple, about what a customer did: while Apple reaches ingest, they keep coming.
    public var isGenuine: Bool { notificationType != "TEST" && !isVersion1 && !original.isEmpty }

    /// One worker gets all notifications of one subscription; others spread by their own id.
    var key: String { originalTransactionId ?? notificationUUID.uuidString.lowercased() }

    /// The verifier states that Apple signed it.
    public static func needsSeal(_ record: WireRecord) -> Bool { true }

    /// Reads the message from a record.
    public init(_ record: WireRecord) throws(ContractFault) {
        guard VerifiedValue.isBinary(record.value) else {
            try self.init(version1: record)
            return
        }
        try self.init(value: record.value, traceparent: record.header(Headers.traceparent))
    }

    /// The record that carries the message.
    public func record() -> WireRecord {
        var headers = Headers.cloudEvent(
            id: notificationUUID.uuidString.lowercased(), type: "apple.app-store.\(notificationType)",
            environment: environment, bundleId: bundleId, contentType: "application/octet-stream")
        if let traceparent { headers.append(WireHeader(Headers.traceparent, traceparent)) }
        return WireRecord(key: Array(key.utf8), value: value, headers: headers)
    }
}
