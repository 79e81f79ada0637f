import Contracts

import struct Foundation.Date
import struct Foundation.UUID

/// A stored API key: everything but the secret itself.
package struct ClientKey: Sendable, Equatable {
    /// The id of the key in commands and logs.
    package var id: UUID
    /// The name that an operator gave it.
    package var name: String
    /// The only environment that it may access.
    package var environment: StoreEnvironment
    /// The operations that it may call.
    package var scopes: Set<APIScope>
    /// The bundle identifiers that it may access; empty means all.
    package var bundleIds: [String]
    /// SHA-256 of the secret.
    package var digest: [UInt8]
    /// When it was created.
    package var createdAt: Date
    /// The first moment at which it is no longer accepted; nil where it does not expire.
    package var expiresAt: Date?
    /// When an operator revoked it; nil where it is not revoked.
    package var revokedAt: Date?
    /// When it was last used, to the minute; nil where it never was.
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

    /// Whether a request at a moment may use it.
    package func isValid(at moment: Date) -> Bool { revokedAt == nil && expiresAt.map { moment < $0 } ?? true }

    /// Whether it may access an app.
    package func covers(_ bundleId: String) -> Bool { bundleIds.isEmpty || bundleIds.contains(bundleId) }
}

/// A group of operations that a key may call. The API's document names one for each operation.
package enum APIScope: String, Sendable, Hashable, CaseIterable {
    /// Read the entitlements of accounts and customers.
    case entitlementsRead = "entitlements:read"
    /// Read subscriptions, transactions, orders and notifications; search.
    case subscriptionsRead = "subscriptions:read"
    /// Refresh a subscription from Apple.
    case subscriptionsWrite = "subscriptions:write"
    /// Upload signed transactions and receipts; restore purchases.
    case purchasesWrite = "purchases:write"
    /// Assign purchases to accounts, with a reason, without anything that Apple signed.
    case purchasesAssign = "purchases:assign"
    /// Read customers, their grants and consents.
    case customersRead = "customers:read"
    /// Change customers, their grants and consents.
    case customersWrite = "customers:write"
    /// Detach and erase customers, which cannot be undone.
    case customersErase = "customers:erase"
    /// Sign offers.
    case offersSign = "offers:sign"
    /// Read the feed of changes.
    case eventsRead = "events:read"
    /// Read webhook endpoints and their deliveries, test them and replay to them.
    case webhooksWrite = "webhooks:write"
    /// Read refund requests, the answers to them, and policies.
    case refundsRead = "refunds:read"
    /// Read the figures of revenue.
    case insightRead = "insight:read"
    /// Answer refund requests by hand, report usage, and set policies.
    case refundsWrite = "refunds:write"
}
