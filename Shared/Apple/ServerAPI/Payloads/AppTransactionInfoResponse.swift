import AppStore
import StrictJSON

/// The purchase of the app itself.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/apptransactioninforesponse>
public struct AppTransactionInfoResponse: Payload, Hashable {
    /// Its JWS.
    public var signedAppTransactionInfo: [UInt8]?

    /// Reads Apple's JSON; fields without a value here are passed over.
    ///
    /// - Throws: `PayloadFault` where a field has another kind of value than Apple documents.
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        signedAppTransactionInfo = try fields.read("signedAppTransactionInfo")
    }

    /// Writes Apple's JSON; what is nil is left out.
    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("signedAppTransactionInfo", signedAppTransactionInfo)
        writer.endObject()
    }
}
