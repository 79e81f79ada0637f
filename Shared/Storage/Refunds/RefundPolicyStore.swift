import Contracts
import Postgres
import Refunds

import struct Foundation.Date

/// The policies of apps. Versions are only added; the greatest is in force.
package struct RefundPolicyStore: Sendable {
    /// A version of a policy.
    package struct Version: Sendable, Equatable {
        package var number: Int64
        /// As it was sent.
        package var document: String
        package var createdAt: Date
        package var createdBy: String

        /// - Throws: where a newer build accepted what this one does not.
        package var policy: RefundPolicy {
            get throws(RefundPolicyFaults) { try RefundPolicy(Array(document.utf8)) }
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

    /// The version in force; nil where the app has no policy.
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

    /// Adds a version, and has the open requests of the app looked at.
    /// - Parameters:
    ///   - audit: the entry of the audit log, written with it.
    ///   - expected: the version that the caller read, 0 for none; nil: whatever it is.
    /// - Returns: the number of the version; nil where another was added meanwhile.
    package func add(
        _ document: String, to bundleId: String, in environment: StoreEnvironment, expecting expected: Int64? = nil,
        by name: String, at now: Date, audit: OperatorAction
    ) async throws -> Int64? {
        do {
            return try await repeating {
                try await connection.transaction { transaction in
                    let before =
                        try transaction.execute(Self.newest, environment.rawValue, bundleId, Int64(1)).first
                        .map { row in try Version(row).number } ?? 0
                    guard expected.map({ $0 == before }) ?? true else { return nil }
                    _ = try transaction.pipeline([
                        Command(Self.insert, environment.rawValue, bundleId, before + 1, document, now, name),
                        Command(Self.wake, environment.rawValue, bundleId, now),
                        OperatorActionStore.command(recording: [audit]),
                    ])
                    return before + 1
                }
            }
        } catch let error as PostgresError where error.sqlState == "23505" {
            // Another was added between the read and the write.
            guard expected == nil else { return nil }
            return try await add(document, to: bundleId, in: environment, by: name, at: now, audit: audit)
        }
    }

    static let statements = [newest, insert, wake]

    static let newest = Statement(
        "refund-policy-newest",
        """
        select version, document, created_at, created_by
        from refund_policy
        where environment = $1::text::store_environment and bundle_id = $2::text
        order by version desc
        limit $3::bigint
        """)

    private static let insert = Statement(
        "refund-policy-insert",
        """
        insert into refund_policy (environment, bundle_id, version, document, created_at, created_by)
        values ($1::text::store_environment, $2::text, $3::bigint, $4::text, $5::timestamptz, $6::text)
        """)

    private static let wake = Statement(
        "refund-policy-wake",
        """
        update refund_request
        set next_at = $3::timestamptz
        where environment = $1::text::store_environment and bundle_id = $2::text
            and requested_at > $3::timestamptz - interval '12 hours' and requested_at > coalesce(outcome_at, '-infinity')
            and not exists (
                select
                from refund_answer
                where refund_answer.environment = refund_request.environment
                    and refund_answer.transaction_id = refund_request.transaction_id and body is not null
                    and decided_at > coalesce(outcome_at, '-infinity'))
        """)
}
