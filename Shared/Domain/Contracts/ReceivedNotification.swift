import Records

import struct Foundation.Date

/// A signed payload as a client posted it, or as a process of this deployment got it from Apple. Nothing of it is verified.
///
/// What did not come by the webhook may be a signed transaction or renewal info on its own: see ``SignedPart``.
public struct ReceivedNotification: TopicMessage, Hashable {
    /// The compact JWS, byte for byte; or the JSON of a notification of version 1, without its shared secret.
    public var signedPayload: [UInt8]
    /// How it was received.
    public var source: NotificationSource
    /// When it was received; millisecond precision.
    public var receivedAt: Date
    /// The app of renewal info on its own, which names none: the app of the request to Apple.
    public var bundleId: String?
    /// Apple's status of the subscription, beside a signed object in an answer of Apple's API. Apple does not sign
    /// it, so only the answers that recovery and backfill got from Apple can have one, and what an operator replays of them: on a
    /// record that came by the webhook or from an app the header is ignored.
    public var status: AnsweredStatus?
    /// W3C trace context of the request, where it had one.
    public var traceparent: String?

    /// - Parameter signedPayload: as it came; nothing of it is verified.
    public init(
        signedPayload: [UInt8], source: NotificationSource, receivedAt: Date, bundleId: String? = nil,
        status: AnsweredStatus? = nil, traceparent: String? = nil
    ) {
        self.signedPayload = signedPayload
        self.source = source
        self.receivedAt = receivedAt
        self.bundleId = bundleId
        self.status = source.isAnsweredByApple ? status : nil
        self.traceparent = traceparent
    }

    /// A posted or uploaded payload is verified by Apple's signature. That Apple answered so, with the status beside it, is
    /// not signed.
    public static func needsSeal(_ record: WireRecord) -> Bool {
        record.header(Headers.source).flatMap(NotificationSource.init)?.isAnsweredByApple ?? false
    }

    /// Reads the message from a record.
    public init(_ record: WireRecord) throws(ContractFault) {
        guard let source = record.header(Headers.source).flatMap(NotificationSource.init) else {
            throw .missing(Headers.source)
        }
        guard
            let receivedAt = record.header(Headers.receivedAt).flatMap(Int64.init).flatMap({ Date(recorded: $0) })
        else { throw .missing(Headers.receivedAt) }
        self.init(
            signedPayload: record.value, source: source, receivedAt: receivedAt,
            bundleId: record.header(Headers.bundleId), status: AnsweredStatus(record),
            traceparent: record.header(Headers.traceparent))
    }

    /// The record that carries the message.
    public func record() -> WireRecord {
        var headers = [
            WireHeader(Headers.source, source.rawValue),
            WireHeader(Headers.receivedAt, String(receivedAt.milliseconds)),
        ]
        if let bundleId { headers.append(WireHeader(Headers.bundleId, bundleId)) }
        if let status, source.isAnsweredByApple {
            headers.append(WireHeader(Headers.status, String(status.status)))
            headers.append(WireHeader(Headers.statusDate, String(status.date.milliseconds)))
        }
        if let traceparent { headers.append(WireHeader(Headers.traceparent, traceparent)) }
        return WireRecord(value: signedPayload, headers: headers)
    }
}

extension AnsweredStatus {
    fileprivate init?(_ record: WireRecord) {
        guard let status = record.header(Headers.status).flatMap(Int64.init),
            let date = record.header(Headers.statusDate).flatMap(Int64.init)
        else { return nil }
        self.init(status: status, askedAt: Date(milliseconds: date))
    }
}
