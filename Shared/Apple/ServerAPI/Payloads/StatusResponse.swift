import AppStore
import StrictJSON

/// All subscriptions of a customer.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/statusresponse>
public struct StatusResponse: Payload, Hashable {
    /// Sandbox or production.
    public var environment: AppStoreEnvironment?
    /// Bundle identifier of the app.
    public var bundleId: String?
    /// Apple's number of the app; not in sandbox.
    public var appAppleId: Int64?
    /// By group.
    public var data: [SubscriptionGroupIdentifierItem] = []

    /// Nothing set.
    public init() {}

    /// Reads Apple's JSON; fields without a value here are passed over.
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        environment = try fields.read("environment")
        bundleId = try fields.read("bundleId")
        appAppleId = try fields.read("appAppleId")
        data = try fields.read("data") ?? []
    }

    /// Writes Apple's members; what is nil is left out.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.field("environment", environment)
        writer.field("bundleId", bundleId)
        writer.field("appAppleId", appAppleId)
        writer.field("data", data)
    }
}
