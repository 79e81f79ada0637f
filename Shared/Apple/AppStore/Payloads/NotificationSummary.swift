import StrictJSON

/// The result of a mass extension of renewal dates.
///
/// <https://developer.apple.com/documentation/appstoreservernotifications/summary>
public struct NotificationSummary: Payload, Hashable {
    /// Sandbox or production.
    public var environment: AppStoreEnvironment?
    /// Apple's number of the app; not in sandbox.
    public var appAppleId: Int64?
    /// Bundle identifier of the app.
    public var bundleId: String?
    /// The product whose subscribers were extended.
    public var productId: String?
    /// The name that we gave the request.
    public var requestIdentifier: String?
    /// Where; nil means everywhere.
    public var storefrontCountryCodes: [String]?
    /// How many were extended.
    public var succeededCount: Int64?
    /// How many were not.
    public var failedCount: Int64?
    /// What it was read from, as far as this build cannot make use of it. Not written.
    public internal(set) var oddities: [PayloadOddity] = []

    /// Nothing set.
    public init() {}

    /// Reads Apple's JSON; fields without a value here are passed over.
    ///
    /// - Throws: `PayloadFault` where a field that decides something has another kind of value than Apple documents;
    ///   the others are nil then, see ``oddities``.
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        environment = try fields.read("environment")
        appAppleId = try fields.read("appAppleId")
        bundleId = try fields.read("bundleId")
        productId = fields.attempt("productId")
        requestIdentifier = fields.attempt("requestIdentifier")
        storefrontCountryCodes = fields.attempt("storefrontCountryCodes")
        succeededCount = fields.attempt("succeededCount")
        failedCount = fields.attempt("failedCount")
        oddities = fields.oddities
    }

    /// Writes Apple's members; what is nil is left out.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.field("environment", environment)
        writer.field("appAppleId", appAppleId)
        writer.field("bundleId", bundleId)
        writer.field("productId", productId)
        writer.field("requestIdentifier", requestIdentifier)
        writer.field("storefrontCountryCodes", storefrontCountryCodes)
        writer.field("succeededCount", succeededCount)
        writer.field("failedCount", failedCount)
    }
}
