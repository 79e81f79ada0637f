import Contracts
import Postgres

import struct Foundation.Date
import struct Foundation.UUID

/// The consents of customers, as app backends send them. Rows are only added, so that the history of a consent is kept.
package struct ConsentStore: Sendable {
    /// The kinds of consents.
    package enum Kind: String, Sendable, CaseIterable {
        /// Sending consumption information to Apple, for its decision about a refund.
        case consumption
    }

    /// A consent that a customer gave or withdrew.
    package struct Consent: Sendable, Equatable {
        package var environment: StoreEnvironment
        package var bundleId: String
        package var appAccountToken: UUID
        package var kind: Kind
        package var isGiven: Bool
        /// When the customer gave or withdrew it, by the backend's clock.
        package var givenAt: Date
        /// When it was stored, by the clock of this process.
        package var recordedAt: Date
        /// The id of the API key that sent it.
        package var recordedBy: UUID
        /// The text that the customer saw, such as its version.
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

    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// Adds a consent or its withdrawal, and has the open refund requests of the account's purchases looked at.
    package func add(_ consent: Consent) async throws {
        _ = try await repeating {
            try await connection.pipeline([
                Command(
                    Self.insert, consent.environment.rawValue, consent.bundleId, consent.appAccountToken,
                    consent.kind.rawValue, consent.isGiven, consent.givenAt, consent.recordedAt, consent.recordedBy,
                    consent.note),
                Command(
                    Self.wake, consent.environment.rawValue, consent.bundleId, consent.appAccountToken,
                    consent.recordedAt),
            ])
        }
    }

    /// All consents of an account, the newest first: the first of a kind counts.
    package func consents(
        of account: UUID, _ bundleId: String, in environment: StoreEnvironment
    ) async throws -> [Consent] {
        try await connection.execute(Self.list, environment.rawValue, bundleId, account).compactMap { row in
            // A kind that only a newer release knows is ignored.
            guard let kind = Kind(rawValue: try row.value("kind")) else { return nil }
            return Consent(
                environment: environment, bundleId: bundleId, appAccountToken: account, kind: kind,
                isGiven: try row.value("is_given"), givenAt: try row.value("given_at"),
                recordedAt: try row.value("recorded_at"), recordedBy: try row.value("recorded_by"),
                note: try row.optional("note"))
        }
    }

    /// When Apple last reported that a parent withdrew the consent to a child's use of the app (`RESCIND_CONSENT`), for a known
    /// Apple account of the account; nil where it never did.
    package func rescindedAt(
        of account: UUID, _ bundleId: String, in environment: StoreEnvironment
    ) async throws -> Date? {
        try await connection.execute(Self.rescinded, environment.rawValue, bundleId, account).first?
            .optional("rescinded_at")
    }

    static let statements = [insert, list, rescinded, wake]

    /// Not those that wait for Apple: consent is read again before every attempt.
    private static let wake = Statement(
        "consent-wake",
        """
        update refund_request
        set next_at = $4::timestamptz
        where environment = $1::text::store_environment and bundle_id = $2::text and next_at > $4::timestamptz
            and original_transaction_id in (
                select original_transaction_id
                from purchase_account
                where environment = $1::text::store_environment and bundle_id = $2::text
                    and app_account_token = $3::uuid)
            and not exists (
                select
                from refund_answer
                where refund_answer.environment = refund_request.environment
                    and refund_answer.transaction_id = refund_request.transaction_id and body is not null
                    and sent_at is null and failed_at is null and decided_at > coalesce(outcome_at, '-infinity'))
        """)

    /// A withdrawal takes back what was given before it, also where the clock of the instance that stored that is ahead.
    private static let insert = Statement(
        "consent-insert",
        """
        insert into customer_consent (
            environment, bundle_id, app_account_token, kind, is_given, given_at, recorded_at, recorded_by, note)
        values (
            $1::text::store_environment, $2::text, $3::uuid, $4::text, $5::boolean,
            case when $5::boolean then $6::timestamptz else greatest($6::timestamptz, (
                select max(given_at)
                from customer_consent
                where environment = $1::text::store_environment and bundle_id = $2::text and app_account_token = $3::uuid
                    and kind = $4::text))
            end,
            $7::timestamptz, $8::uuid, $9::text)
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
        select max(signed_at) as rescinded_at
        from notification
        where environment = $1::text::store_environment and bundle_id = $2::text
            and notification_type = 'RESCIND_CONSENT'
            and app_transaction_id in (
                select identity
                from account_app
                where environment = $1::text::store_environment and bundle_id = $2::text
                    and app_account_token = $3::uuid
                union all
                select app_transaction_id
                from subscription
                where environment = $1::text::store_environment and bundle_id = $2::text
                    and owner_account_token = $3::uuid
                union all
                select purchase.app_transaction_id
                from purchase_account held
                join subscription purchase
                    on purchase.environment = held.environment and purchase.bundle_id = held.bundle_id
                    and purchase.original_transaction_id = held.original_transaction_id
                where held.environment = $1::text::store_environment and held.bundle_id = $2::text
                    and held.app_account_token = $3::uuid and held.may_use)
        """)
}
