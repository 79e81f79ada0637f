import AppStore
import Contracts
import Foundation

/// The filters of Get Transaction History.
struct TransactionFilter: Sendable {
    private static let types = [
        "AUTO_RENEWABLE": TransactionType.autoRenewableSubscription, "NON_RENEWABLE": .nonRenewingSubscription,
        "CONSUMABLE": .consumable, "NON_CONSUMABLE": .nonConsumable,
    ]

    private var start: Date?
    private var end: Date?
    private var productIds: Set<String>
    private var types: Set<TransactionType>
    private var groups: Set<String>
    private var ownership: String?
    private var revoked: Bool?
    private var excludesRevoked = false
    var isDescending = false
    /// Equal for equal parameters.
    var fingerprint: UInt64

    /// - Throws: ``APIFault``.
    init(_ call: APICall) throws {
        let request = call.request
        start = try Self.date(request.parameter("startDate"), or: 4_000_015)
        end = try Self.date(request.parameter("endDate"), or: 4_000_016)
        if let start, let end, start >= end { throw APIFault(4_000_013) }
        productIds = try Self.set(request.parameters("productId"), or: 4_000_023)
        groups = try Self.set(request.parameters("subscriptionGroupIdentifier"), or: 4_000_024)
        types = Set(
            try request.parameters("productType").map {
                guard let type = Self.types[$0] else { throw APIFault(4_000_022) }
                return type
            })
        ownership = request.parameter("inAppOwnershipType")
        if let ownership, !["PURCHASED", "FAMILY_SHARED"].contains(ownership) { throw APIFault(4_000_026) }
        revoked = try Self.bool(request.parameter("revoked"), or: 4_000_030)
        excludesRevoked = try Self.bool(request.parameter("excludeRevoked"), or: 4_000_025) ?? false
        switch request.parameter("sort") {
        case nil, "ASCENDING": isDescending = false
        case "DESCENDING": isDescending = true
        default: throw APIFault(4_000_021)
        }
        let parameters = request.query.filter { $0.name != "revision" }.map { "\($0.name)=\($0.value)" }.sorted()
        fingerprint = PageToken.question(
            [call.app.bundleId, call.app.environment.rawValue, call.endpoint.rawValue, call.id] + parameters)
    }

    func matches(_ purchase: Purchase, of customer: Customer?, in bundleId: String) -> Bool {
        if let start, purchase.purchaseDate < start { return false }
        if let end, purchase.purchaseDate >= end { return false }
        if !productIds.isEmpty, !productIds.contains(purchase.product.id(in: bundleId)) { return false }
        if !types.isEmpty, !types.contains(purchase.product.kind.type) { return false }
        if !groups.isEmpty, !(purchase.product.group.map(groups.contains) ?? false) { return false }
        if let ownership, ownership != (customer?.ownership ?? .purchased).type.rawValue { return false }
        let isRevoked = purchase.revocation != nil
        if let revoked, isRevoked != revoked { return false }
        return !(excludesRevoked && isRevoked)
    }

    private static func date(_ text: String?, or code: Int64) throws -> Date? {
        guard let text else { return nil }
        guard let milliseconds = Int64(text), milliseconds >= 0 else { throw APIFault(code) }
        return Date(milliseconds: milliseconds)
    }

    private static func bool(_ text: String?, or code: Int64) throws -> Bool? {
        guard let text else { return nil }
        guard let bool = Bool(text) else { throw APIFault(code) }
        return bool
    }

    private static func set(_ texts: [String], or code: Int64) throws -> Set<String> {
        guard !texts.contains("") else { throw APIFault(code) }
        return Set(texts)
    }
}
