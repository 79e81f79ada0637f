import StrictJSON

import struct Foundation.Date

/// The status of a subscription that Apple's API answered beside a signed object. Apple did not sign it, so it is never
/// inside what Apple signed: the JSON around the object holds it, under this name.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/status>
public struct UnsignedStatus: Payload, Hashable {
    /// Apple's value.
    public var status: SubscriptionStatus?
    /// When it applied.
    public var date: Date?

    /// - Parameter date: millisecond precision.
    public init(status: SubscriptionStatus, date: Date) {
        self.status = status
        self.date = date
    }

    /// Reads what ``write(to:)`` wrote.
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        status = try fields.read("status")
        date = try fields.read("date")
    }

    /// Writes an object of both.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.field("status", status)
        writer.field("date", date)
    }
}
