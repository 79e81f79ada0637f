import AppStore
import StrictJSON

/// One page of a customer's refunds.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/refundhistoryresponse>
public struct RefundHistoryResponse: Payload, Hashable {
    /// Asks for what follows this page, now or later.
    public var revision: String?
    /// Whether there is a next page.
    public var hasMore: Bool?
    /// A JWS each, at most 20, all of them revoked.
    public var signedTransactions: [[UInt8]] = []

    /// Nothing set.
    public init() {}

    /// Reads Apple's JSON; fields without a value here are passed over.
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        revision = try fields.read("revision")
        hasMore = try fields.read("hasMore")
        signedTransactions = try fields.read("signedTransactions") ?? []
    }

    /// Writes Apple's members; what is nil is left out.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.field("revision", revision)
        writer.field("hasMore", hasMore)
        writer.field("signedTransactions", signedTransactions)
    }
}
