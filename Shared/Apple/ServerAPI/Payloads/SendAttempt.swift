import AppStore
import StrictJSON

import struct Foundation.Date

/// One attempt of Apple's to send a notification.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/sendattemptitem>
public struct SendAttempt: Payload, Hashable {
    /// When.
    public var attemptDate: Date?
    /// How it ended, as Apple saw it.
    public var sendAttemptResult: SendAttemptResult?

    /// Nothing set.
    public init() {}

    /// Reads Apple's JSON; fields without a value here are passed over.
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        attemptDate = try fields.read("attemptDate")
        sendAttemptResult = try fields.read("sendAttemptResult")
    }

    /// Writes Apple's members; what is nil is left out.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.field("attemptDate", attemptDate)
        writer.field("sendAttemptResult", sendAttemptResult)
    }
}
