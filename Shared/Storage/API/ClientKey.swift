import Contracts

import struct Foundation.Date
import struct Foundation.UUID

/// A key of the API as the database knows it: everything but the key itself.
package struct ClientKey: Sendable, Equatable {
    /// Names it in commands and logs.
    package var id: UUID
    /// What people call it.
    package var name: String
    /// The only environment it can see.
    package var environment: StoreEnvironment
    /// What it may do.
    package var scopes: Set<APIScope>
    /// The apps it may ask about; empty means all.
    package var bundleIds: [String]
    /// SHA-256 of the key.
    package var digest: [UInt8]
    /// When it was made.
    package var createdAt: Date
    /// The first moment at which it is not accepted any more; nil where there is none.
    package var expiresAt: Date?
    /// When an operator revoked it.
    package var revokedAt: Date?
    /// When it was last used, by the minute.
    package var lastUsedAt: Date?

    package init(
        id: UUID, name: String, environment: StoreEnvironment, scopes: Set<APIScope>, bundleIds: [String],
        digest: [UInt8], createdAt: Date, expiresAt: Date? = nil
    ) {
        self.id = id
        self.name = name
        self.environment = environment
        self.scopes = scopes
        self.bundleIds = bundleIds
        self.digest = digest
        self.createdAt = createdAt
        self.expiresAt = expiresAt
    }

    /// Whether a request at this moment may use it.
    package func isValid(at moment: Date) -> Bool { revokedAt == nil && expiresAt.map { moment < $0 } ?? true }

    /// Whether it may ask about an app.
    package func covers(_ bundleId: String) -> Bool { bundleIds.isEmpty || bundleIds.contains(bundleId) }
}

/// What a key may do. The document of the API names one for each operation.
package enum APIScope: String, Sendable, Hashable, CaseIterable {
    /// What accounts and customers may use.
    case entitlementsRead = "entitlements:read"
    /// Subscriptions, transactions, orders, notifications, search.
    case subscriptionsRead = "subscriptions:read"
    /// Ask Apple about a subscription.
    case subscriptionsWrite = "subscriptions:write"
    /// Upload signed transactions and receipts, restore.
    case purchasesWrite = "purchases:write"
    /// Customers, their grants and consents.
    case customersRead = "customers:read"
    /// Change them.
    case customersWrite = "customers:write"
    /// Sign offers.
    case offersSign = "offers:sign"
    /// What changed, as a feed.
    case eventsRead = "events:read"
}
