import Contracts
import Signatures
import Storage
import StrictJSON
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// Reads what accounts may use.
struct EntitlementReader: Sendable {
    /// What one account may use, and why some of its purchases give nothing.
    struct Answer: Sendable {
        var account: AccountAccess
        var states: [String: SubscriptionState]

        /// Changes whenever the answer does, apart from the time it was given at.
        var tag: String {
            var json = JSONWriter(capacity: 1024)
            json.beginObject()
            account.write(to: &json, states: states)
            var text = Array("W/\"".utf8)
            text += Base64.encode(SHA256Hash.digest(json.bytes)[..<15], .url)
            text.append(UInt8(ascii: "\""))
            return String(decoding: text, as: UTF8.self)
        }
    }

    let database: Database
    let definitions: DefinitionTable

    /// One for each account, in their order.
    func answers(
        of accounts: [UUID], in environment: StoreEnvironment, bundleIds: [String]?, at moment: Date
    ) async throws -> [Answer] {
        let lines = try EntitlementStore.lines(
            try await database.rows(
                EntitlementStore.command(of: accounts, in: environment, bundleIds: bundleIds, from: moment)))
        let current = definitions.current
        let byAccount = Dictionary(grouping: lines, by: \.account)
        let found = accounts.map { account in
            AccountAccess(
                of: account, in: environment, lines: byAccount[account] ?? [], definitions: current, at: moment)
        }
        let withheld = Set(found.flatMap(\.withheld).map(\.id))
        let states = try await states(of: withheld, in: environment, at: moment)
        return found.map { account in
            Answer(account: account, states: states.filter { id, _ in account.withheld.contains { $0.id == id } })
        }
    }

    /// Asked only where something is withheld: who has access costs one look-up.
    private func states(
        of purchases: Set<String>, in environment: StoreEnvironment, at moment: Date
    ) async throws -> [String: SubscriptionState] {
        guard !purchases.isEmpty else { return [:] }
        let command = EntitlementStore.command(purchases: purchases.sorted(), in: environment, at: moment)
        return try EntitlementStore.states(try await database.rows(command), at: moment)
    }
}
