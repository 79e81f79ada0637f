import Contracts
import Foundation
import Postgres

extension PostgresConnection {
    /// When the next refund request is due; nil where none is planned.
    public func nextRefundDue() throws -> Date? {
        try execute(unsafeSQL: "select min(next_at) as next_at from refund_request").first?.optional("next_at")
    }

    /// Apple asks about a transaction, or asks again, each time with a notification of its own.
    public func askAboutRefund(
        of id: String, _ bundleId: String, in environment: StoreEnvironment, reason: String? = nil, at now: Date
    ) throws(PostgresError) {
        let (time, reason) = ("'\(now.ISO8601Format())'", reason.map { "'\($0)'" } ?? "null")
        try run(
            unsafeScript: """
                insert into refund_request as known (
                    requested_at, request_uuid, next_at, environment, transaction_id, original_transaction_id, bundle_id, reason)
                values (\(time), gen_random_uuid(), \(time), '\(environment.rawValue)', '\(id)', '\(id)', '\(bundleId)', \(reason))
                on conflict (environment, transaction_id) do update
                set requested_at = \(time), request_uuid = gen_random_uuid(), next_at = coalesce(known.next_at, \(time));
                insert into notification (
                    signed_at, received_at, recorded_at, kafka_offset, notification_uuid, environment, kafka_partition,
                    has_advanced, is_lifecycle_event, is_revoked, has_added_seats, source, notification_type, bundle_id,
                    original_transaction_id, transaction_id)
                select requested_at, requested_at, requested_at, 1, request_uuid, environment, 1, true, false, false, false,
                    'webhook', 'CONSUMPTION_REQUEST', bundle_id, original_transaction_id, transaction_id
                from refund_request where transaction_id = '\(id)'
                """)
    }

    /// An account owns a consumable.
    public func storeConsumable(
        _ id: String, of account: UUID, _ bundleId: String, in environment: StoreEnvironment
    ) throws(PostgresError) {
        try run(
            unsafeScript: """
                insert into transaction (
                    signed_at, event_at, purchased_at, notification_uuid, environment, is_upgraded, transaction_id,
                    original_transaction_id, bundle_id, product_id, product_type)
                values (now(), now(), now(), gen_random_uuid(), '\(environment.rawValue)', false, '\(id)', '\(id)',
                    '\(bundleId)', 'coins', 'Consumable');
                insert into purchase_account (
                    decided_at, app_account_token, environment, may_use, bundle_id, original_transaction_id, because)
                values (now(), '\(account)', '\(environment.rawValue)', true, '\(bundleId)', '\(id)', 'owner')
                """)
    }

    /// An account consented to answers to refund requests long ago.
    public func storeConsent(
        of account: UUID, _ bundleId: String, in environment: StoreEnvironment
    ) throws(PostgresError) {
        try run(
            unsafeScript: """
                insert into customer_consent (
                    given_at, recorded_at, app_account_token, recorded_by, environment, is_given, bundle_id, kind)
                values ('2020-01-01', '2020-01-01', '\(account)', gen_random_uuid(), '\(environment.rawValue)', true,
                    '\(bundleId)', 'consumption')
                """)
    }
}
