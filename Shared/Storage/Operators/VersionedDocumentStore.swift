import Contracts
import Postgres

import struct Foundation.Date

/// What is set for an app as one document, such as a policy, each kind in a table of its own. Versions are only added;
/// the greatest is in force.
package protocol VersionedDocumentStore: Sendable {
    /// What a version says.
    associatedtype Document

    /// Made by `Statement.newestVersions`.
    static var newest: Statement { get }
    /// Made by `Statement.versionInsert`.
    static var insert: Statement { get }

    /// All statements run on this connection.
    var connection: PostgresConnection { get }

    /// Run with the insert of a version.
    static func following(_ bundleId: String, in environment: StoreEnvironment, at now: Date) -> [Command]
}

/// A version of a document.
package struct DocumentVersion<Document>: Sendable, Equatable {
    package var number: Int64
    /// As it was set.
    package var document: String
    package var createdAt: Date
    package var createdBy: String

    init(_ row: Row) throws {
        number = try row.value("version")
        document = try row.value("document")
        createdAt = try row.value("created_at")
        createdBy = try row.value("created_by")
    }
}

extension VersionedDocumentStore {
    package typealias Version = DocumentVersion<Document>

    /// The version in force; nil where the app has none.
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
                    _ = try transaction.pipeline(
                        [Command(Self.insert, environment.rawValue, bundleId, before + 1, document, now, name)]
                            + Self.following(bundleId, in: environment, at: now)
                            + [OperatorActionStore.command(recording: [audit])])
                    return before + 1
                }
            }
        } catch let error as PostgresError where error.sqlState == "23505" {
            // Another was added between the read and the write.
            return try await add(document, to: bundleId, in: environment, by: name, at: now, audit: audit)
        }
    }

    package static func following(_: String, in _: StoreEnvironment, at _: Date) -> [Command] { [] }
}

extension Statement {
    static func newestVersions(_ name: StaticString, of table: StaticString) -> Statement {
        Statement(
            name,
            unsafeSQL: """
                select version, document, created_at, created_by
                from \(table)
                where environment = $1::text::store_environment and bundle_id = $2::text
                order by version desc
                limit $3::bigint
                """)
    }

    static func versionInsert(_ name: StaticString, into table: StaticString) -> Statement {
        Statement(
            name,
            unsafeSQL: """
                insert into \(table) (environment, bundle_id, version, document, created_at, created_by)
                values ($1::text::store_environment, $2::text, $3::bigint, $4::text, $5::timestamptz, $6::text)
                """)
    }
}
