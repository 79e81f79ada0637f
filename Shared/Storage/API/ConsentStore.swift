import Contracts
import Postgres

import struct Foundation.Date
import struct Foundation.UUID

/// What customers consented to, as app backends tell; rows are only added, so that it can be shown later who agreed to what
/// and when.
package struct ConsentStore: Sendable {
    /// What can be consented to.
    package enum Kind: String, Sendable, CaseIterable {
        /// That Apple is told how far a purchase was used, for its decision about a refund.
        case consumption
    }

    /// One time that a customer agreed or took it back.
    package struct Consent: Sendable, Equatable {
        package var environment: StoreEnvironment
        package var bundleId: String
        package var appAccountToken: UUID
        package var kind: Kind
        package var isGiven: Bool
        /// When the customer did; by the backend's clock.
        package var givenAt: Date
        /// By ours.
        package var recordedAt: Date
        /// The API key.
        package var recordedBy: UUID
        /// What the customer saw, such as the version of a text.
        package var note: String?

        package init(
            environment: StoreEnvironment, bundleId: String, appAccountToken: UUID, kind: Kind, isGiven: Bool,
            givenAt: Date, recordedAt: Date, recordedBy: UUID, note: String?
        ) {
            self.environment = environment
            self.bundleId = bundleId
            self.appAccountToken = appAccountToken
            self.kind = kind
            self.isGiven = isGiven
            self.givenAt = givenAt
            self.recordedAt = recordedAt
            self.recordedBy = recordedBy
            self.note = note
        }
    }

    private let connection: PostgresConnection

    /// All statements run on this connection.
    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// Adds a consent, or that it was taken back.
    package func add(_ consent: Consent) async throws {
        _ = try await connection.execute(
            Self.insert, consent.environment.rawValue, consent.bundleId, consent.appAccountToken, consent.kind.rawValue,
            consent.isGiven, consent.givenAt, consent.recordedAt, consent.recordedBy, consent.note)
    }

    /// All of an account, the newest first: the first of a kind counts.
    package func consents(
        of account: UUID, _ bundleId: String, in environment: StoreEnvironment
    ) async throws -> [Consent] {
        try await connection.execute(Self.list, environment.rawValue, bundleId, account).compactMap { row in
            // A kind of a newer release means nothing to this one.
            guard let kind = Kind(rawValue: try row.value("kind")) else { return nil }
            return Consent(
                environment: environment, bundleId: bundleId, appAccountToken: account, kind: kind,
                isGiven: try row.value("is_given"), givenAt: try row.value("given_at"),
                recordedAt: try row.value("recorded_at"), recordedBy: try row.value("recorded_by"),
                note: try row.optional("note"))
        }
    }

    /// When Apple last said that a parent took back the consent to a child's use of the app (`RESCIND_CONSENT`), for one of
    /// the Apple accounts that the account is known to have; nil where it never did.
    package func rescindedAt(
        of account: UUID, _ bundleId: String, in environment: StoreEnvironment
    ) async throws -> Date? {
        try await connection.execute(Self.rescinded, environment.rawValue, bundleId, account).first?
            .optional("rescinded_at")
    }

    static let statements = [insert, list, rescinded]

    private static let insert = Statement(
        "consent-insert",
        """
        insert into customer_consent (
            environment, bundle_id, app_account_token, kind, is_given, given_at, recorded_at, recorded_by, note)
        values (
            $1::text::store_environment, $2::text, $3::uuid, $4::text, $5::boolean, $6::timestamptz, $7::timestamptz,
            $8::uuid, $9::text)
        """)

    private static let list = Statement(
        "consent-list",
        """
        select kind, is_given, given_at, recorded_at, recorded_by, note
        from customer_consent
        where environment = $1::text::store_environment and bundle_id = $2::text and app_account_token = $3::uuid
        order by given_at desc, id desc
        """)

    private static let rescinded = Statement(
        "consent-rescinded",
        """
        select max(told.signed_at) as rescinded_at
        from notification told
        join notification_payload payload on payload.notification_uuid = told.notification_uuid
        where told.environment = $1::text::store_environment and told.bundle_id = $2::text
            and told.notification_type = 'RESCIND_CONSENT'
            and payload.decoded -> 'appData' -> 'signedAppTransactionInfo' ->> 'appTransactionId' in (
                select app_transaction_id
                from account_app
                where environment = $1::text::store_environment and bundle_id = $2::text
                    and app_account_token = $3::uuid
                union all
                select app_transaction_id
                from subscription
                where environment = $1::text::store_environment and bundle_id = $2::text
                    and owner_account_token = $3::uuid)
        """)
}
