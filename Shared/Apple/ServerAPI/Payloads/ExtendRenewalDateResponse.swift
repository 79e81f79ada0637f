import AppStore
import StrictJSON

import struct Foundation.Date

/// What became of an extension.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/extendrenewaldateresponse>
public struct ExtendRenewalDateResponse: Payload, Hashable {
    /// Names the subscription.
    public var originalTransactionId: String?
    /// Apple's number of the period that was extended.
    public var webOrderLineItemId: String?
    /// Whether it was.
    public var success: Bool?
    /// The new renewal date.
    public var effectiveDate: Date?

    /// Reads Apple's JSON; fields without a value here are passed over.
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        originalTransactionId = try fields.read("originalTransactionId")
        webOrderLineItemId = try fields.read("webOrderLineItemId")
        success = try fields.read("success")
        effectiveDate = try fields.read("effectiveDate")
    }

    /// Writes Apple's members; what is nil is left out.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.field("originalTransactionId", originalTransactionId)
        writer.field("webOrderLineItemId", webOrderLineItemId)
        writer.field("success", success)
        writer.field("effectiveDate", effectiveDate)
    }
}
