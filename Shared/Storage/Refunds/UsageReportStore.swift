import Contracts
import Postgres
import Refunds

import struct Foundation.Date

/// How far customers used what they bought, as backends report it. Rows are only added; the newest of a transaction counts.
package struct UsageReportStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// Adds a report, and has an open request of the transaction looked at.
    /// - Returns: false where no transaction of these apps has the id.
    /// - Parameter bundleIds: nil means all apps.
    package func add(
        _ report: RefundSubject.UsageReport, of key: RefundKey, among bundleIds: [String]?, by name: String,
        at now: Date
    ) async throws -> Bool {
        try await repeating {
            try await connection.pipeline([
                Command(
                    Self.insert, key.environment.rawValue, key.transactionId, bundleIds, now, report.percentage,
                    report.deliveryStatus?.rawValue, report.isSampleProvided, name),
                Command(Self.wake, key.environment.rawValue, key.transactionId, now),
            ])
        }[0].affected > 0
    }

    static let statements = [insert, wake]

    private static let insert = Statement(
        "usage-report-insert",
        """
        insert into usage_report (
            environment, transaction_id, original_transaction_id, bundle_id, reported_at, percentage, delivery_status,
            is_sample_provided, reported_by)
        select environment, transaction_id, original_transaction_id, bundle_id, $4::timestamptz, $5::bigint, $6::text,
            $7::boolean, $8::text
        from transaction
        where environment = $1::text::store_environment and transaction_id = $2::text
            and ($3::text[] is null or bundle_id = any ($3::text[]))
        """)

    /// Not a request that waits for Apple: the answer to it stays as it is, and the pause between two attempts, too.
    static let wake = Statement(
        "refund-request-wake",
        """
        update refund_request
        set next_at = $3::timestamptz
        where environment = $1::text::store_environment and transaction_id = $2::text
            and requested_at > coalesce(outcome_at, '-infinity') and next_at > $3::timestamptz
            and not exists (
                select
                from refund_answer
                where refund_answer.environment = refund_request.environment
                    and refund_answer.transaction_id = refund_request.transaction_id and body is not null
                    and sent_at is null and failed_at is null)
        """)
}
