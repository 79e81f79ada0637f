import Contracts
import Postgres
import Refunds

import struct Foundation.Date

/// How far customers used what they bought, as backends report it. Rows are only added; the newest of a transaction counts.
package struct UsageReportStore: Sendable {
    private let connection: PostgresConnection

    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// The outcome of ``add(_:of:among:by:at:)``.
    package enum Added: Sendable, Equatable {
        case stored
        /// No transaction of these apps has the id.
        case unknown
        /// The customer was detached or erased, and the purchase has no other account.
        case erased
    }

    /// Adds a report, and has an open request of the transaction looked at. An erasure waits until it is stored, and deletes it, or it
    /// waits for the erasure and is not stored.
    /// - Parameter bundleIds: nil means all apps.
    package func add(
        _ report: RefundSubject.UsageReport, of key: RefundKey, among bundleIds: [String]?, by name: String,
        at now: Date
    ) async throws -> Added {
        let found = try await repeating {
            try await connection.pipeline([
                ErasedAccounts.command(among: []),
                Command(
                    Self.insert, key.environment.rawValue, key.transactionId, bundleIds, now, report.percentage,
                    report.deliveryStatus?.rawValue, report.isSampleProvided, name),
                Command(Self.wake, key.environment.rawValue, key.transactionId, now, bundleIds),
            ])
        }[1]
        guard let row = found.first else { return .unknown }
        return try row.value("is_erased", as: Bool.self) ? .erased : .stored
    }

    /// Deletes reports from before a time, the oldest first, in batches of one transaction each.
    /// - Parameter portion: number of rows per transaction.
    /// - Returns: number of rows.
    package func delete(reportedBefore time: Date, portion: Int = 20_000) async throws -> Int {
        try await deletingInPortions(of: portion) { try await connection.execute(Self.delete, time, $0).affected }
    }

    static let statements = [insert, wake, delete]

    /// A report counts beside the one before it also where the clock of the instance that stored that is ahead.
    private static let insert = Statement(
        "usage-report-insert",
        """
        with found as (
            select environment, transaction_id, original_transaction_id, bundle_id,
                exists (
                    select
                    from erased_purchase erased
                    where erased.environment = transaction.environment
                        and erased.original_transaction_id = transaction.original_transaction_id)
                and not exists (
                    select
                    from purchase_account held
                    where held.environment = transaction.environment
                        and held.original_transaction_id = transaction.original_transaction_id) as is_erased
            from transaction
            where environment = $1::text::store_environment and transaction_id = $2::text
                and ($3::text[] is null or bundle_id = any ($3::text[]))
        ), stored as (
            insert into usage_report (
                environment, transaction_id, original_transaction_id, bundle_id, reported_at, percentage,
                delivery_status, is_sample_provided, reported_by)
            select environment, transaction_id, original_transaction_id, bundle_id,
                greatest($4::timestamptz, (
                    select max(reported_at)
                    from usage_report earlier
                    where earlier.environment = found.environment and earlier.transaction_id = found.transaction_id)),
                $5::bigint, $6::text, $7::boolean, $8::text
            from found
            where not is_erased
        )
        select is_erased from found
        """)

    private static let delete = Statement(
        "usage-report-delete",
        """
        delete from usage_report
        where id = any (array(
            select id from usage_report where reported_at < $1::timestamptz order by reported_at limit $2::bigint))
        """)

    /// Not a request that waits for Apple: the answer to it stays as it is, and the pause between two attempts, too. An answer that
    /// Apple had not taken when it decided is about the request before.
    static let wake = Statement(
        "refund-request-wake",
        """
        update refund_request
        set next_at = $3::timestamptz
        where environment = $1::text::store_environment and transaction_id = $2::text
            and ($4::text[] is null or bundle_id = any ($4::text[]))
            and requested_at > coalesce(outcome_at, '-infinity') and next_at > $3::timestamptz
            and not exists (
                select
                from refund_answer
                where refund_answer.environment = refund_request.environment
                    and refund_answer.transaction_id = refund_request.transaction_id and body is not null
                    and sent_at is null and failed_at is null and decided_at > coalesce(outcome_at, '-infinity'))
        """)
}
