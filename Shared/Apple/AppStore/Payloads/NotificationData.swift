import StrictJSON

/// What most notifications are about: an app, and signed information on one purchase.
///
/// <https://developer.apple.com/documentation/appstoreservernotifications/data>
public struct NotificationData: Payload, Hashable {
    /// Sandbox or production.
    public var environment: AppStoreEnvironment?
    /// Apple's number of the app; not in sandbox.
    public var appAppleId: Int64?
    /// Bundle identifier of the app.
    public var bundleId: String?
    /// The build of the app.
    public var bundleVersion: String?
    /// A `JWSTransactionDecodedPayload` in a JWS of its own.
    public var signedTransactionInfo: String?
    /// A `JWSRenewalInfoDecodedPayload` in a JWS of its own.
    public var signedRenewalInfo: String?
    /// Where the subscription stands.
    public var status: SubscriptionStatus?
    /// Why the customer wants money back.
    public var consumptionRequestReason: ConsumptionRequestReason?
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
        bundleVersion = fields.attempt("bundleVersion")
        signedTransactionInfo = try fields.readSigned("signedTransactionInfo")
        signedRenewalInfo = try fields.readSigned("signedRenewalInfo")
        status = try fields.read("status")
        consumptionRequestReason = fields.attempt("consumptionRequestReason")
        oddities = fields.oddities
    }

    /// Writes Apple's members; what is nil is left out.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.field("environment", environment)
        writer.field("appAppleId", appAppleId)
        writer.field("bundleId", bundleId)
        writer.field("bundleVersion", bundleVersion)
        writer.field("signedTransactionInfo", signedTransactionInfo)
        writer.field("signedRenewalInfo", signedRenewalInfo)
        writer.field("status", status)
        writer.field("consumptionRequestReason", consumptionRequestReason)
    }
}
