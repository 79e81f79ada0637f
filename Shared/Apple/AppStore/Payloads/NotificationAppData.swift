import StrictJSON

/// What a notification about the app itself, not about a purchase, is about.
///
/// <https://developer.apple.com/documentation/appstoreservernotifications/appdata>
public struct NotificationAppData: Payload, Hashable {
    /// Apple's number of the app.
    public var appAppleId: Int64?
    /// Bundle identifier of the app.
    public var bundleId: String?
    /// Sandbox or production.
    public var environment: AppStoreEnvironment?
    /// An `AppTransaction` in a JWS of its own.
    public var signedAppTransactionInfo: String?

    /// Nothing set.
    public init() {}

    /// Reads Apple's JSON; fields without a value here are passed over.
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        appAppleId = try fields.read("appAppleId")
        bundleId = try fields.read("bundleId")
        environment = try fields.read("environment")
        signedAppTransactionInfo = try fields.readSigned("signedAppTransactionInfo")
    }

    /// Writes Apple's members; what is nil is left out.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.field("appAppleId", appAppleId)
        writer.field("bundleId", bundleId)
        writer.field("environment", environment)
        writer.field("signedAppTransactionInfo", signedAppTransactionInfo)
    }
}
