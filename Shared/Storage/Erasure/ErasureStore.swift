import Contracts
import Postgres

import struct Foundation.Date
import struct Foundation.UUID

/// Detaches or erases customers on their request (GDPR, article 17).
package struct ErasureStore: Sendable {
    /// How much is forgotten.
    package enum Extent: String, Sendable, CaseIterable {
        /// The account and its records; Apple's signed payloads stay as evidence.
        case detach
        /// Also every signed payload that names the account, and Apple's id of the customer.
        case erase
    }

    /// Proof of an erasure, without anything that names the customer.
    package struct Certificate: Sendable, Equatable {
        package var id: UUID
        package var environment: StoreEnvironment
        package var bundleId: String
        package var extent: Extent
        package var erasedAt: Date
        /// Records of the pipeline's topics that are older than the erasure are gone by then.
        package var topicsUntil: Date
        /// Number of purchases that the account owned or claimed.
        package var purchases: Int
        /// Number of signed payloads that were deleted.
        package var payloads: Int

        /// The subject of the erasure in the audit log.
        package var subject: String {
            "\(environment.rawValue) \(bundleId) certificate \(id.uuidString.lowercased())"
        }
    }

    /// The SQLSTATE with which records of an erased account are rejected.
    package static let rejectedState = "SK001"

    private let connection: PostgresConnection

    /// All statements run on this connection.
    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// Forgets a customer, named by the developer's own id, or, in apps without own ids, by the account's token.
    /// - Parameter id: of the certificate.
    /// - Returns: nil where the name is neither.
    package func forget(
        named name: String, of bundleId: String, in environment: StoreEnvironment, extent: Extent, id: UUID,
        at now: Date
    ) async throws -> Certificate? {
        let known = try await CustomerRecords(connection).find(name, of: bundleId, in: environment)
        guard let account = known?.appAccountToken ?? UUID(uuidString: name) else { return nil }
        return try await forget(
            account, customer: known?.id, of: bundleId, in: environment, extent: extent, id: id, at: now)
    }

    /// Forgets an account. Idempotent: a second call returns the first certificate, and completes what an interrupted one left.
    /// - Parameters:
    ///   - customer: the developer's own id, which the audit log may hold.
    ///   - id: of the certificate.
    package func forget(
        _ account: UUID, customer: String?, of bundleId: String, in environment: StoreEnvironment, extent: Extent,
        id: UUID, at now: Date
    ) async throws -> Certificate {
        let row = try await connection.execute(
            Self.erase, id, environment.rawValue, bundleId, account, extent == .erase, now,
            now.addingTimeInterval(Self.retention))[0]
        let certificate = Certificate(
            id: try row.value("id"), environment: environment, bundleId: bundleId,
            extent: try row.value("is_complete") ? .erase : .detach, erasedAt: try row.value("erased_at"),
            topicsUntil: try row.value("topics_until"), purchases: Int(try row.value("purchases", as: Int64.self)),
            payloads: Int(try row.value("payloads", as: Int64.self)))
        _ = try await connection.execute(
            Self.sweep, certificate.id, environment.rawValue, bundleId, account, customer)
        return certificate
    }

    /// Whether an account is known to be erased or detached.
    package func isErased(
        _ account: UUID, of bundleId: String, in environment: StoreEnvironment
    ) async throws -> Bool {
        let account = ErasedAccounts.Account(environment: environment, bundleId: bundleId, token: account)
        return try await !ErasedAccounts(connection.pipeline([ErasedAccounts.command(among: [account])])[0]).isEmpty
    }

    /// The longest retention that `setup` gives a topic, in seconds.
    private static let retention = Topics.all.map { Double($0.retention.components.seconds) }.max() ?? 0

    static let statements = [ErasedAccounts.select, erase, sweep]

    private static let erase = Statement(
        "erase-account",
        """
        select id, is_complete, erased_at, topics_until, purchases, payloads
        from erase_account(
            $1::uuid, $2::text::store_environment, $3::text, $4::uuid, $5::boolean, $6::timestamptz, $7::timestamptz)
        """)

    private static let sweep = Statement(
        "erase-account-sweep",
        """
        select from sweep_erased_account($1::uuid, $2::text::store_environment, $3::text, $4::uuid, $5::text)
        """)
}
