import Contracts
import Postgres
import Storage

import struct Foundation.Date
import struct Foundation.UUID

/// Ends access that was given by hand.
package struct RevokeGrant: Sendable {
    package static let name = "customers revoke"

    let id: UUID
    let account: UUID
    /// Nil: of any app.
    let bundleId: String?
    let environment: StoreEnvironment

    package init(_ id: UUID, of account: UUID, of bundleId: String?, in environment: StoreEnvironment) {
        self.id = id
        self.account = account
        self.bundleId = bundleId
        self.environment = environment
    }

    /// - Throws: `OperationError` where the account has no such grant.
    package func plan(on connection: PostgresConnection, at now: Date) async throws -> OperationPlan {
        try await plan(try await find(on: connection), on: connection, at: now)
    }

    /// - Returns: the plan, which says whether the grant was not over before; then the audit log has a row.
    @discardableResult
    package func perform(on connection: PostgresConnection, by performer: Performer) async throws -> OperationPlan {
        let grant = try await find(on: connection)
        var plan = try await plan(grant, on: connection, at: performer.now)
        let action = plan.action(of: performer)
        plan.isEffective = try await connection.transaction { transaction in
            let revoke = CustomerRecords.command(revoking: grant, at: performer.now)
            guard try transaction.pipeline([revoke])[0].affected > 0 else { return false }
            try transaction.commit(after: [OperatorActionStore.command(recording: [action])])
            return true
        }
        return plan
    }

    private func find(on connection: PostgresConnection) async throws -> CustomerRecords.ManualGrant {
        let grants = try await CustomerRecords(connection).grants(of: account, of: bundleId, in: environment)
        guard let grant = grants.first(where: { $0.id == id }) else {
            throw OperationError(
                "account \(account.uuidString.lowercased()) has no grant \(id.uuidString.lowercased()): look at its grants",
                .notFound)
        }
        return grant
    }

    private func plan(
        _ grant: CustomerRecords.ManualGrant, on connection: PostgresConnection, at now: Date
    ) async throws -> OperationPlan {
        let name = "grant \(id.uuidString.lowercased()) of \(grant.productId)"
        let end = grant.revokedAt ?? grant.endsAt.flatMap { $0 <= now ? $0 : nil }
        return OperationPlan(
            Self.name, on: grant.subject, about: try await grant.about(on: connection),
            [
                end.map { "The \(name) ended on \($0.text); nothing changes." }
                    ?? "The \(name) ends now, instead of \(grant.endsAt.map { "on \($0.text)" } ?? "never")."
            ], isEffective: end == nil)
    }
}
