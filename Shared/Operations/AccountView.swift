import Contracts
import Postgres
import Storage
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// What an account may use at a moment and why, what is withheld from it, and what people gave it.
package struct AccountView: Sendable {
    /// Runs a statement, wherever the caller has its connections.
    package typealias Read = @Sendable (Command) async throws -> Rows

    package let access: AccountAccess
    /// Of the purchases that are withheld, by original transaction id; one that is missing is not stored.
    package let states: [String: SubscriptionState]
    /// The newest products of the purchases that are withheld, by original transaction id.
    package let products: [String: String]
    /// Of what it was made of; nil where nothing is known of the account.
    package let version: EntitlementStore.Version?

    /// Reads the view of one account.
    /// - Parameter bundleId: nil means all apps.
    package init(
        of account: UUID, in environment: StoreEnvironment, of bundleId: String? = nil, at moment: Date,
        on connection: PostgresConnection
    ) async throws {
        self = try await Self.views(
            of: [account], in: environment, bundleIds: bundleId.map { [$0] }, at: moment,
            definitions: try await EntitlementDefinitionStore(connection).current()
        ) { command in
            try await connection.pipeline([command])[0]
        }[0]
    }

    /// Reads the views of some accounts, one for each, in their order.
    /// - Parameters:
    ///   - accounts: each once.
    ///   - bundleIds: nil means all apps.
    package static func views(
        of accounts: [UUID], in environment: StoreEnvironment, bundleIds: [String]?, at moment: Date,
        definitions: EntitlementDefinitions, _ read: Read
    ) async throws -> [AccountView] {
        let lines = try EntitlementStore.lines(
            try await read(
                EntitlementStore.command(of: accounts, in: environment, bundleIds: bundleIds, from: moment)))
        return try await views(
            of: accounts, in: environment, lines: Dictionary(grouping: lines, by: \.account), at: moment,
            definitions: definitions, read)
    }

    /// The views of accounts whose lines were read before.
    package static func views(
        of accounts: [UUID], in environment: StoreEnvironment, lines: [UUID: [EntitlementStore.Line]], at moment: Date,
        definitions: EntitlementDefinitions, _ read: Read
    ) async throws -> [AccountView] {
        let found = accounts.map { account in
            AccountAccess(
                of: account, in: environment, lines: lines[account] ?? [], definitions: definitions, at: moment)
        }
        let withheld = Set(found.flatMap(\.withheld).map(\.id))
        var states: [String: SubscriptionState] = [:]
        var products: [String: String] = [:]
        // Asked only where something is withheld: who has access costs one look-up.
        if !withheld.isEmpty {
            let command = EntitlementStore.command(purchases: withheld.sorted(), in: environment, at: moment)
            let rows = try await read(command)
            states = try EntitlementStore.states(rows, at: moment)
            for subscription in try EntitlementStore.subscriptions(rows) {
                products[subscription.key.originalTransactionId] = subscription.transaction?.productId
            }
        }
        return found.map { access in
            AccountView(
                access: access, states: states.filter { id, _ in access.withheld.contains { $0.id == id } },
                products: products.filter { id, _ in access.withheld.contains { $0.id == id } },
                version: EntitlementStore.Version(lines[access.account] ?? []))
        }
    }

    private init(
        access: AccountAccess, states: [String: SubscriptionState], products: [String: String],
        version: EntitlementStore.Version?
    ) {
        self.access = access
        self.states = states
        self.products = products
        self.version = version
    }

    /// Why a purchase is withheld from the account.
    package func reason(withheld line: AccountAccess.Line) -> WithheldReason {
        WithheldReason(states[line.id], line.because)
    }
}
