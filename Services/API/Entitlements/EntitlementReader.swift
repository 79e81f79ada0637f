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

        /// Of what it was made of; nil where nothing is known of the account.
        var version: EntitlementStore.Version?
        /// The version of the definitions and levels.
        var definitions: Int64

        /// Changes whenever the answer does, apart from the time it was given at.
        func tag(bundleIds: [String]?) -> AnswerTag {
            var json = JSONWriter(capacity: 1024)
            json.beginObject()
            account.write(to: &json, states: states)
            // The states of withheld purchases change by the clock.
            let versions = account.withheld.isEmpty ? version : nil
            return AnswerTag(
                answer: json.bytes, until: account.changesAt,
                versions: versions.map {
                    AnswerTag.versions(
                        of: account.account, in: account.environment, bundleIds: bundleIds, $0, definitions: definitions
                    )
                })
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

    /// Whether an account may use now what it might when an answer with the tag was given: one look-up.
    func isCurrent(
        _ tag: AnswerTag, of account: UUID, in environment: StoreEnvironment, bundleIds: [String]?, at now: Date
    ) async throws -> Bool {
        guard let versions = tag.versions, now.milliseconds < tag.until else { return false }
        let command = EntitlementStore.command(versionOf: account, in: environment, bundleIds: bundleIds)
        let version = try EntitlementStore.version(try await database.rows(command))
        return versions
            == AnswerTag.versions(
                of: account, in: environment, bundleIds: bundleIds, version, definitions: definitions.current.version)
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
            Answer(
                account: account, states: states.filter { id, _ in account.withheld.contains { $0.id == id } },
                version: EntitlementStore.Version(lines[account.account] ?? []), definitions: current.version)
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
