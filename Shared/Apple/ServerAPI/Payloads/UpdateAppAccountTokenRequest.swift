import AppStore
import StrictJSON

/// Sets the account of the app that a purchase belongs to.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/updateappaccounttokenrequest>
public struct UpdateAppAccountTokenRequest: Payload, Hashable {
    /// A UUID in text.
    public var appAccountToken: String?

    /// Nothing set.
    public init() {}

    /// Reads Apple's JSON; fields without a value here are passed over.
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        appAccountToken = try fields.read("appAccountToken")
    }

    /// Writes Apple's members; what is nil is left out.
    public func writeMembers(to writer: inout JSONWriter) { writer.field("appAccountToken", appAccountToken) }
}
