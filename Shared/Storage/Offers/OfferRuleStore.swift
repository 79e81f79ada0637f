import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date

/// The rules by which offers of apps are signed. Versions are only added; the greatest is in force.
package struct OfferRuleStore: Sendable {
    /// A version of an app's rules.
    package struct Version: Sendable, Equatable {
        package var number: Int64
        /// As it was set.
        package var document: String
        package var createdAt: Date
        package var createdBy: String

        /// - Throws: where a newer build accepted what this one does not.
        package var rules: OfferRules {
            get throws(OfferRuleFaults) { try OfferRules(Array(document.utf8)) }
        }

        init(_ row: Row) throws {
            number = try row.value("version")
            document = try row.value("document")
            createdAt = try row.value("created_at")
            createdBy = try row.value("created_by")
        }
    }

    private let connection: PostgresConnection

    /// All statements run on this connection.
    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// The version in force; nil where the app has no rules.
    package func inForce(_ bundleId: String, in environment: StoreEnvironment) async throws -> Version? {
        try await versions(of: bundleId, in: environment, limit: 1).first
    }

    /// Versions, the newest first.
    package func versions(
        of bundleId: String, in environment: StoreEnvironment, limit: Int = 100
    ) async throws -> [Version] {
        try await connection.execute(Self.newest, environment.rawValue, bundleId, Int64(limit))
            .map { row in try Version(row) }
    }

    /// Adds a version.
    /// - Parameter audit: the entry of the audit log, written with it.
    /// - Returns: the number of the version.
    package func add(
        _ document: String, to bundleId: String, in environment: StoreEnvironment, by name: String, at now: Date,
        audit: OperatorAction
    ) async throws -> Int64 {
        do {
            return try await repeating {
                try await connection.transaction { transaction in
                    let before =
                        try transaction.execute(Self.newest, environment.rawValue, bundleId, Int64(1)).first
                        .map { row in try Version(row).number } ?? 0
                    _ = try transaction.pipeline([
                        Command(Self.insert, environment.rawValue, bundleId, before + 1, document, now, name),
                        OperatorActionStore.command(recording: [audit]),
                    ])
                    return before + 1
                }
            }
        } catch let error as PostgresError where error.sqlState == "23505" {
            // Another was added between the read and the write.
            return try await add(document, to: bundleId, in: environment, by: name, at: now, audit: audit)
        }
    }

    static let statements = [newest, insert]

    private static let newest = Statement(
        "offer-rule-newest",
        """
        select version, document, created_at, created_by
        from offer_rule
        where environment = $1::text::store_environment and bundle_id = $2::text
        order by version desc
        limit $3::bigint
        """)

    private static let insert = Statement(
        "offer-rule-insert",
        """
        insert into offer_rule (environment, bundle_id, version, document, created_at, created_by)
        values ($1::text::store_environment, $2::text, $3::bigint, $4::text, $5::timestamptz, $6::text)
        """)
}
