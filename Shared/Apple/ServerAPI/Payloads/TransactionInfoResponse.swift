import AppStore
import StrictJSON

/// One transaction.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/transactioninforesponse>
public struct TransactionInfoResponse: Payload, Hashable {
    /// Its JWS.
    public var signedTransactionInfo: [UInt8]?

    /// Reads Apple's JSON; fields without a value here are passed over.
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        signedTransactionInfo = try fields.read("signedTransactionInfo")
    }

    /// Writes Apple's members; what is nil is left out.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.field("signedTransactionInfo", signedTransactionInfo)
    }
}
