import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// What a person does in the console, each together with its row of the audit log: both or neither.
package struct OperatorWork: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// Gives access by hand.
    package func grant(_ grant: CustomerRecords.ManualGrant, audit: OperatorAction) async throws {
        _ = try await connection.pipeline([
            CustomerRecords.command(adding: grant), OperatorActionStore.command(recording: [audit]),
        ])
    }

    /// Ends a grant of an account now.
    /// - Returns: false where the account has no such grant, or it is over.
    package func revoke(
        _ grant: UUID, of account: UUID, in environment: StoreEnvironment, at now: Date, audit: OperatorAction
    ) async throws -> Bool {
        try await connection.execute(
            Self.revoke, grant, now, audit.actor, audit.action, audit.subject, audit.note, account,
            environment.rawValue
        ).affected > 0
    }

    /// Opens windows of Apple's history to be fetched and compared.
    package func recover(_ windows: [RecoveryWindow.Request], at now: Date, audit: [OperatorAction]) async throws {
        _ = try await connection.pipeline([
            RecoveryWindowStore.opening(windows, at: now), OperatorActionStore.command(recording: audit),
        ])
    }

    /// Asks recovery for the customer's whole history.
    /// - Parameter id: of the request.
    package func refresh(
        _ key: SubscriptionKey, of bundleId: String, id: UUID, at now: Date, audit: OperatorAction
    ) async throws {
        _ = try await connection.pipeline([
            RefreshStore.command(requesting: key, of: bundleId, id: id, at: now),
            OperatorActionStore.command(recording: [audit]),
        ])
    }

    /// From now on this account is served where it shares an Apple account.
    package func choose(
        _ account: UUID, of bundleId: String, in environment: StoreEnvironment, at now: Date, audit: OperatorAction
    ) async throws {
        try await repeating {
            try await connection.transaction { transaction in
                _ = try transaction.pipeline([OperatorActionStore.command(recording: [audit])])
                try SharingStore.choose(
                    account, of: CoverageStore.App(environment, bundleId), at: now, in: transaction)
            }
        }
    }

    static let statements = [revoke]

    private static let revoke = Statement(
        "console-grant-revoke",
        """
        with revoked as (
            update manual_grant
            set revoked_at = greatest($2::timestamptz, starts_at)
            where id = $1::uuid and app_account_token = $7::uuid and environment = $8::text::store_environment
                and revoked_at is null and (ends_at is null or ends_at > $2::timestamptz)
            returning environment, bundle_id, app_account_token
        )
        insert into operator_action (
            acted_at, actor, action, subject, note, environment, bundle_id, app_account_token)
        select $2::timestamptz, $3::text, $4::text, $5::text, $6::text, environment, bundle_id, app_account_token
        from revoked
        """)
}
