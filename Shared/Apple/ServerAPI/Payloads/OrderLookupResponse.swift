import AppStore
import StrictJSON

/// What the App Store knows of an order number.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/orderlookupresponse>
public struct OrderLookupResponse: Payload, Hashable {
    /// Whether it is one.
    public var status: OrderLookupStatus?
    /// A JWS for each thing bought with it.
    public var signedTransactions: [[UInt8]] = []

    /// Nothing set.
    public init() {}

    /// Reads Apple's JSON; fields without a value here are passed over.
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        status = try fields.read("status")
        signedTransactions = try fields.read("signedTransactions") ?? []
    }

    /// Writes Apple's members; what is nil is left out.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.field("status", status)
        writer.field("signedTransactions", signedTransactions)
    }
}
