import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// The newest facts of each subscription or one-time purchase. Written by `LedgerStore.apply` only.
public struct SubscriptionStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// What is known of one purchase.
    public func find(_ key: SubscriptionKey) async throws -> Subscription? {
        try await connection.execute(SubscriptionStatements.find, key.environment.rawValue, key.originalTransactionId)
            .first.map { row in try Self.subscription(row) }
    }

    /// Pages through all of one environment, in the order of their ids.
    /// - Parameter id: the original transaction id of the last one of the page before.
    public func page(
        of environment: StoreEnvironment, after id: String? = nil, limit: Int = 1000
    ) async throws -> [Subscription] {
        try await connection.execute(
            SubscriptionStatements.page, environment.rawValue, id ?? "", Int64(limit)
        ).map { row in try Self.subscription(row) }
    }

    /// All of all environments, for checks at one's desk; holds them in memory.
    public func all() async throws -> [Subscription] {
        var all: [Subscription] = []
        for environment in StoreEnvironment.allCases {
            var last: String?
            while true {
                let page = try await page(of: environment, after: last)
                all += page
                guard let id = page.last?.key.originalTransactionId else { break }
                last = id
            }
        }
        return all
    }

    static func subscription(_ row: Row) throws -> Subscription {
        Subscription(
            key: try key(row), bundleId: try row.value("bundle_id"),
            bundleIdVersion: try version(row, "bundle_news_at", "bundle_news_uuid"),
            version: EventVersion(
                signedDate: try row.value("signed_at"), notificationUUID: try row.value("notification_uuid")),
            status: try row.optional("status", as: Int64.self).map(Int.init),
            statusVersion: try version(row, "status_news_at", "status_news_uuid"),
            transaction: try TransactionColumns.read(row, signedAt: "transaction_signed_at"),
            transactionVersion: try version(row, "transaction_news_at", "transaction_news_uuid"),
            renewal: try RenewalColumns.read(row),
            renewalVersion: try version(row, "renewal_news_at", "renewal_news_uuid"))
    }

    private static func version(_ row: Row, _ at: String, _ uuid: String) throws -> EventVersion? {
        guard let signedDate: Date = try row.optional(at) else { return nil }
        return EventVersion(signedDate: signedDate, notificationUUID: try row.value(uuid))
    }

    static func key(_ row: Row) throws -> SubscriptionKey {
        SubscriptionKey(
            environment: try environment(row), originalTransactionId: try row.value("original_transaction_id"))
    }

    static func environment(_ row: Row) throws -> StoreEnvironment {
        let name: String = try row.value("environment")
        guard let environment = StoreEnvironment(rawValue: name) else { throw UnknownEnvironment(name: name) }
        return environment
    }
}

/// A newer build wrote an environment this one does not know.
struct UnknownEnvironment: Error, CustomStringConvertible {
    let name: String
    var description: String {
        "the database holds the environment “\(name)”, which this build does not know; use a newer build"
    }
}

/// A subscription as the one transaction handles it.
struct SubscriptionRevision: Sendable {
    var subscription: Subscription
    /// How often the row was written before; 0 where there is none.
    var revision: Int64
}
