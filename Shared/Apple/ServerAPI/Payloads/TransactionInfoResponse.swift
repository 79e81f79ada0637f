import AppStore
import StrictJSON

/// One transaction.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/transactioninforesponse>
public struct TransactionInfoResponse: Payload, Hashable {
    /// Its JWS.
    public var signedTransactionInfo: [UInt8]?

    /// Reads Apple's JSON; fields without a value here are passed over.
    ///
    /// - Throws: `PayloadFault` where a field has another kind of value than Apple documents.
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        signedTransactionInfo = try fields.read("signedTransactionInfo")
    }

    /// Writes Apple's JSON; what is nil is left out.
    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("signedTransactionInfo", signedTransactionInfo)
        writer.endObject()
    }
}
