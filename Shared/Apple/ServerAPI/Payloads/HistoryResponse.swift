import AppStore
import StrictJSON

/// One page of a customer's transactions.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/historyresponse>
public struct HistoryResponse: Payload, Hashable {
    /// Asks for what follows this page, now or later.
    public var revision: String?
    /// Whether there is a next page.
    public var hasMore: Bool?
    /// Bundle identifier of the app.
    public var bundleId: String?
    /// Apple's number of the app; not in sandbox.
    public var appAppleId: Int64?
    /// Sandbox or production.
    public var environment: AppStoreEnvironment?
    /// A JWS each, at most 20.
    public var signedTransactions: [[UInt8]] = []

    /// Nothing set.
    public init() {}

    /// Reads Apple's JSON; fields without a value here are passed over.
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        revision = try fields.read("revision")
        hasMore = try fields.read("hasMore")
        bundleId = try fields.read("bundleId")
        appAppleId = try fields.read("appAppleId")
        environment = try fields.read("environment")
        signedTransactions = try fields.read("signedTransactions") ?? []
    }

    /// Writes Apple's members; what is nil is left out.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.field("revision", revision)
        writer.field("hasMore", hasMore)
        writer.field("bundleId", bundleId)
        writer.field("appAppleId", appAppleId)
        writer.field("environment", environment)
        writer.field("signedTransactions", signedTransactions)
    }
}
