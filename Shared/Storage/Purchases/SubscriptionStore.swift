import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// Reads the newest facts of each subscription or one-time purchase. Only `LedgerStore.apply` writes them.
public struct SubscriptionStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// The newest facts of one purchase; nil where no event of it is stored.
    public func find(_ key: SubscriptionKey) async throws -> Subscription? {
        try await connection.execute(SubscriptionStatements.find, key.environment.rawValue, key.originalTransactionId)
            .first.map { row in try SubscriptionColumns.read(row).subscription }
    }

    /// Pages through the purchases of one environment, in the order of their ids.
    /// - Parameter id: the original transaction id of the last one of the page before.
    public func page(
        of environment: StoreEnvironment, after id: String? = nil, limit: Int = 1000
    ) async throws -> [Subscription] {
        try await connection.execute(
            SubscriptionStatements.page, environment.rawValue, id ?? "", Int64(limit)
        ).map { row in try SubscriptionColumns.read(row).subscription }
    }

    /// All purchases of all environments, for checks on a local machine; holds them in memory.
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
