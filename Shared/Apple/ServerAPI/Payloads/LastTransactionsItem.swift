import AppStore
import StrictJSON

/// The newest of one subscription.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/lasttransactionsitem>
public struct LastTransactionsItem: Payload, Hashable {
    /// Where it stands, as Apple sees it.
    public var status: SubscriptionStatus?
    /// Names the subscription.
    public var originalTransactionId: String?
    /// The JWS of its newest transaction.
    public var signedTransactionInfo: [UInt8]?
    /// The JWS of what is to happen next.
    public var signedRenewalInfo: [UInt8]?

    /// Nothing set.
    public init() {}

    /// Reads Apple's JSON; fields without a value here are passed over.
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        status = try fields.read("status")
        originalTransactionId = try fields.read("originalTransactionId")
        signedTransactionInfo = try fields.read("signedTransactionInfo")
        signedRenewalInfo = try fields.read("signedRenewalInfo")
    }

    /// Writes Apple's members; what is nil is left out.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.field("status", status)
        writer.field("originalTransactionId", originalTransactionId)
        writer.field("signedTransactionInfo", signedTransactionInfo)
        writer.field("signedRenewalInfo", signedRenewalInfo)
    }
}
