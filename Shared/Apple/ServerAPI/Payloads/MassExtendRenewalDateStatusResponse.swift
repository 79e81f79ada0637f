import AppStore
import StrictJSON

import struct Foundation.Date

/// How far a mass extension is; it takes hours or days.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/massextendrenewaldatestatusresponse>
public struct MassExtendRenewalDateStatusResponse: Payload, Hashable {
    /// Our name of the request.
    public var requestIdentifier: String?
    /// Whether it is done.
    public var complete: Bool?
    /// When it was done.
    public var completeDate: Date?
    /// How many subscriptions were extended.
    public var succeededCount: Int64?
    /// How many were not; each is told in a notification of its own.
    public var failedCount: Int64?

    /// Reads Apple's JSON; fields without a value here are passed over.
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        requestIdentifier = try fields.read("requestIdentifier")
        complete = try fields.read("complete")
        completeDate = try fields.read("completeDate")
        succeededCount = try fields.read("succeededCount")
        failedCount = try fields.read("failedCount")
    }

    /// Writes Apple's members; what is nil is left out.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.field("requestIdentifier", requestIdentifier)
        writer.field("complete", complete)
        writer.field("completeDate", completeDate)
        writer.field("succeededCount", succeededCount)
        writer.field("failedCount", failedCount)
    }
}
