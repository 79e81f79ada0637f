import Contracts
import Postgres
import Storage
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// What an account may use at a moment and why, what is withheld from it, and what people gave it.
package struct AccountView: Sendable {
    package let access: AccountAccess
    /// Of the purchases that are withheld, by original transaction id; one that is missing is not stored.
    package let states: [String: SubscriptionState]

    /// - Parameter bundleId: nil means all apps.
    package init(
        of account: UUID, in environment: StoreEnvironment, of bundleId: String? = nil, at moment: Date,
        on connection: PostgresConnection
    ) async throws {
        let lines = try EntitlementStore.lines(
            try await connection.pipeline([
                EntitlementStore.command(
                    of: [account], in: environment, bundleIds: bundleId.map { [$0] }, from: moment)
            ])[0])
        access = AccountAccess(
            of: account, in: environment, lines: lines,
            definitions: try await EntitlementDefinitionStore(connection).current(), at: moment)
        guard !access.withheld.isEmpty else {
            states = [:]
            return
        }
        let command = EntitlementStore.command(
            purchases: access.withheld.map(\.id), in: environment, at: access.moment)
        states = try EntitlementStore.states(try await connection.pipeline([command])[0], at: access.moment)
    }

    /// Why a purchase is withheld, in the words of the API.
    package func reason(withheld line: AccountAccess.Line) -> String {
        AccountAccess.reason(withheld: states[line.id])
    }
}
