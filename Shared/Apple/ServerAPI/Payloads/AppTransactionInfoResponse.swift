import AppStore
import StrictJSON

/// The purchase of the app itself.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/apptransactioninforesponse>
public struct AppTransactionInfoResponse: Payload, Hashable {
    /// Its JWS.
    public var signedAppTransactionInfo: [UInt8]?

    /// Reads Apple's JSON; fields without a value here are passed over.
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        signedAppTransactionInfo = try fields.read("signedAppTransactionInfo")
    }

    /// Writes Apple's members; what is nil is left out.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.field("signedAppTransactionInfo", signedAppTransactionInfo)
    }
}
