import Contracts
import Postgres

import struct Foundation.Date
import struct Foundation.UUID

/// The original app version of an account's customer, from signed app transactions that were uploaded for the account.
///
/// [AppTransaction](https://developer.apple.com/documentation/storekit/apptransaction)
package struct AccountAppStore: Sendable {
    /// The stored fields of one app transaction.
    package struct AccountApp: Sendable, Equatable {
        package var environment: StoreEnvironment
        package var bundleId: String
        package var appAccountToken: UUID
        /// Apple's id of the customer within the app; empty where an old system sends none.
        package var appTransactionId: String
        package var originalApplicationVersion: String
        package var originalPurchaseDate: Date?
        package var recordedAt: Date

        package init(
            environment: StoreEnvironment, bundleId: String, appAccountToken: UUID, appTransactionId: String,
            originalApplicationVersion: String, originalPurchaseDate: Date?, recordedAt: Date
        ) {
            self.environment = environment
            self.bundleId = bundleId
            self.appAccountToken = appAccountToken
            self.appTransactionId = appTransactionId
            self.originalApplicationVersion = originalApplicationVersion
            self.originalPurchaseDate = originalPurchaseDate
            self.recordedAt = recordedAt
        }
    }

    private let connection: PostgresConnection

    /// All statements run on this connection.
    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// Stores an app transaction for the first account that uploads it, so that it grants no other account anything.
    package func add(_ app: AccountApp) async throws {
        _ = try await connection.execute(
            Self.insert, app.environment.rawValue, app.bundleId, app.appAccountToken, app.appTransactionId,
            app.originalApplicationVersion, app.originalPurchaseDate, app.recordedAt)
    }

    static let statements = [insert]

    private static let insert = Statement(
        "account-app-insert",
        """
        insert into account_app (
            environment, bundle_id, app_account_token, app_transaction_id, original_application_version,
            original_purchased_at, recorded_at)
        values (
            $1::text::store_environment, $2::text, $3::uuid, $4::text, $5::text, $6::timestamptz, $7::timestamptz)
        on conflict do nothing
        """)
}
