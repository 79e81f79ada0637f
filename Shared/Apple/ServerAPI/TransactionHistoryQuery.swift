import AppStore
import struct Foundation.Date

/// Filters of a customer's transactions; none by default. Follow-up requests must repeat them.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/get-transaction-history>
public struct TransactionHistoryQuery: Sendable, Hashable {
    /// Bought then or later.
    public var startDate: Date?
    /// Bought before.
    public var endDate: Date?
    /// Of one of these products.
    public var productIds: [String] = []
    /// Of one of these kinds.
    public var productTypes: [TransactionHistoryProductType] = []
    /// Nil is ascending.
    public var sort: TransactionHistorySort?
    /// Of one of these groups.
    public var subscriptionGroupIdentifiers: [String] = []
    /// Bought by the customer, or by a family member.
    public var inAppOwnershipType: InAppOwnershipType?
    /// True for refunded or withdrawn ones only, false for all others.
    public var revoked: Bool?

    /// Without filters: all transactions.
    public init() {}

    /// The parameters as Apple names them.
    var parameters: [(String, String)] {
        func single(_ name: String, _ value: String?) -> [(String, String)] { value.map { [(name, $0)] } ?? [] }
        var parameters = single("startDate", startDate.map { String(AppleDate.milliseconds(of: $0)) })
        parameters += single("endDate", endDate.map { String(AppleDate.milliseconds(of: $0)) })
        parameters += productIds.map { ("productId", $0) }
        parameters += productTypes.map { ("productType", $0.rawValue) }
        parameters += single("sort", sort?.rawValue)
        parameters += subscriptionGroupIdentifiers.map { ("subscriptionGroupIdentifier", $0) }
        parameters += single("inAppOwnershipType", inAppOwnershipType?.rawValue)
        parameters += single("revoked", revoked.map { $0 ? "true" : "false" })
        return parameters
    }
}
