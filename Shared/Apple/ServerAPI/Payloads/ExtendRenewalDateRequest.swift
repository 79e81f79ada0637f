import AppStore
import StrictJSON

/// Gives one subscriber more days.
///
/// At most twice within 365 days for each subscription.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/extendrenewaldaterequest>
public struct ExtendRenewalDateRequest: Payload, Hashable {
    /// 1 to 90 days.
    public var extendByDays: Int64?
    /// Why.
    public var extendReasonCode: ExtendReasonCode?
    /// Our name of this request, at most 128 characters; a UUID is usual.
    public var requestIdentifier: String?

    /// All three are required by Apple.
    public init(
        extendByDays: Int64? = nil, extendReasonCode: ExtendReasonCode? = nil, requestIdentifier: String? = nil
    ) {
        self.extendByDays = extendByDays
        self.extendReasonCode = extendReasonCode
        self.requestIdentifier = requestIdentifier
    }

    /// Reads Apple's JSON; fields without a value here are passed over.
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        extendByDays = try fields.read("extendByDays")
        extendReasonCode = try fields.read("extendReasonCode")
        requestIdentifier = try fields.read("requestIdentifier")
    }

    /// Writes Apple's members; what is nil is left out.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.field("extendByDays", extendByDays)
        writer.field("extendReasonCode", extendReasonCode)
        writer.field("requestIdentifier", requestIdentifier)
    }
}
