import AppStore
import StrictJSON

/// The subscriptions of one group.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/subscriptiongroupidentifieritem>
public struct SubscriptionGroupIdentifierItem: Payload, Hashable {
    /// Of the group, as in App Store Connect.
    public var subscriptionGroupIdentifier: String?
    /// One for each subscription that the customer ever had in it.
    public var lastTransactions: [LastTransactionsItem] = []

    /// Nothing set.
    public init() {}

    /// Reads Apple's JSON; fields without a value here are passed over.
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        subscriptionGroupIdentifier = try fields.read("subscriptionGroupIdentifier")
        lastTransactions = try fields.read("lastTransactions") ?? []
    }

    /// Writes Apple's members; what is nil is left out.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.field("subscriptionGroupIdentifier", subscriptionGroupIdentifier)
        writer.field("lastTransactions", lastTransactions)
    }
}
