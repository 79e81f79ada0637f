import AppStore
import StrictJSON

/// A notification and how often Apple tried to send it.
///
/// Also what Apple answers about a test notification. The payload is as it was sent and as unproven: put it on the line that
/// proves it.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/notificationhistoryresponseitem>
public struct NotificationHistoryItem: Payload, Hashable {
    /// The JWS; the same bytes that were posted to us.
    public var signedPayload: [UInt8]?
    /// The latest first or last, as Apple pleases: at most six.
    public var sendAttempts: [SendAttempt] = []

    /// Nothing set.
    public init() {}

    /// Reads Apple's JSON; fields without a value here are passed over.
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        signedPayload = try fields.read("signedPayload")
        sendAttempts = try fields.read("sendAttempts") ?? []
    }

    /// Writes Apple's members; what is nil is left out.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.field("signedPayload", signedPayload)
        writer.field("sendAttempts", sendAttempts)
    }
}
