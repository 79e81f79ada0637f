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

    private let database: Database
    private let definitions: DefinitionTable
    private let lookups: EntitlementLookups

    init(database: Database, definitions: DefinitionTable) {
        self.database = database
        self.definitions = definitions
        lookups = EntitlementLookups(database)
    }

    /// What one account may use now.
    func answer(
        of account: UUID, in environment: StoreEnvironment, bundleIds: [String]?, at now: Date
    ) async throws -> Answer {
        let lines = try await lookups.lines(of: account, in: environment, bundleIds: bundleIds, at: now)
        return try await answers(of: [account], in: environment, lines: [account: lines], at: now)[0]
    }

    /// One for each account, in their order.
    func answers(
        of accounts: [UUID], in environment: StoreEnvironment, bundleIds: [String]?, at moment: Date
    ) async throws -> [Answer] {
        let lines = try EntitlementStore.lines(
            try await database.rows(
                EntitlementStore.command(of: accounts, in: environment, bundleIds: bundleIds, from: moment)))
        return try await answers(
            of: accounts, in: environment, lines: Dictionary(grouping: lines, by: \.account), at: moment)
    }

    private func answers(
        of accounts: [UUID], in environment: StoreEnvironment, lines: [UUID: [EntitlementStore.Line]], at moment: Date
    ) async throws -> [Answer] {
        let current = definitions.current
        let found = accounts.map { account in
            AccountAccess(
                of: account, in: environment, lines: lines[account] ?? [], definitions: current, at: moment)
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
