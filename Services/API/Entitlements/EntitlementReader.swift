import Contracts
import Operations
import Storage
import StrictJSON
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// Reads what accounts may use.
struct EntitlementReader: Sendable {
    /// What one account may use, and why some of its purchases give nothing.
    struct Answer: Sendable {
        var view: AccountView
        /// The version of the definitions and levels.
        var definitions: Int64

        /// Changes whenever the answer does, apart from the time it was given at.
        /// - Parameter isOfNow: false for an answer about another moment, which says nothing about an answer of now.
        func tag(bundleIds: [String]?, isOfNow: Bool) -> AnswerTag {
            var json = JSONWriter(capacity: 1024)
            json.beginObject()
            let access = view.access
            access.write(to: &json, states: view.states, products: view.products)
            // The states of withheld purchases change by the clock.
            let versions = isOfNow && access.withheld.isEmpty ? view.version : nil
            return AnswerTag(
                answer: json.bytes, until: access.changesAt,
                versions: versions.map {
                    AnswerTag.versions(
                        of: access.account, in: access.environment, bundleIds: bundleIds, $0, definitions: definitions)
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
        let current = definitions.current
        let views = try await AccountView.views(
            of: [account], in: environment, lines: [account: lines], at: now, definitions: current, database.rows)
        return Answer(view: views[0], definitions: current.version)
    }

    /// The newest transaction by which any purchase of an account bought a product; nil where none did.
    func newestTransaction(
        of productId: String, _ account: UUID, in environment: StoreEnvironment, bundleIds: [String]?
    ) async throws -> ProductTransaction? {
        try ProductTransactionStore.transaction(
            try await database.rows(
                ProductTransactionStore.command(of: productId, account, in: environment, bundleIds: bundleIds)))
    }

    /// What one account might use at another moment, by what is known now.
    func answer(
        of account: UUID, in environment: StoreEnvironment, bundleIds: [String]?, asOf moment: Date
    ) async throws -> Answer {
        let current = definitions.current
        let views = try await AccountView.views(
            of: [account], in: environment, bundleIds: bundleIds, at: moment, definitions: current, database.rows)
        return Answer(view: views[0], definitions: current.version)
    }

    /// One for each account, in their order. On a connection of its own, of which a key has its share: statements about hundreds of
    /// accounts would hold up the look-ups of other keys.
    func answers(
        of accounts: [UUID], in environment: StoreEnvironment, bundleIds: [String]?, at moment: Date
    ) async throws -> [Answer] {
        let current = definitions.current
        let views = try await database.withConnection { connection in
            try await AccountView.views(
                of: accounts, in: environment, bundleIds: bundleIds, at: moment, definitions: current
            ) { command in try await connection.pipeline([command])[0] }
        }
        return views.map { Answer(view: $0, definitions: current.version) }
    }
}
