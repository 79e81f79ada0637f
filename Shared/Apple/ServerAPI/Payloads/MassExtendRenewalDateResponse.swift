import AppStore
import StrictJSON

/// Apple has taken up a mass extension.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/massextendrenewaldateresponse>
public struct MassExtendRenewalDateResponse: Payload, Hashable {
    /// Our name of the request.
    public var requestIdentifier: String?

    /// Reads Apple's JSON; fields without a value here are passed over.
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        requestIdentifier = try fields.read("requestIdentifier")
    }

    /// Writes Apple's members; what is nil is left out.
    public func writeMembers(to writer: inout JSONWriter) { writer.field("requestIdentifier", requestIdentifier) }
}
