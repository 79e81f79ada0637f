import Contracts
import Postgres
import Refunds

import struct Foundation.Date

/// How the answers to refund requests stand, for metrics, alerts and `status`.
package struct RefundStatusStore: Sendable {
    /// One app.
    package struct Status: Sendable, Equatable {
        package var environment: StoreEnvironment
        package var bundleId: String
        /// Open requests without an answer that Apple took.
        package var open: Int64
        /// When the first of these is over; nil where there is none.
        package var deadline: Date?
        /// Answers that Apple has not taken yet, and when the oldest was decided.
        package var waiting: Int64
        package var oldestWaiting: Date?
        /// Of the last day: not answered in time though a policy was in force, and rejected by Apple.
        package var missed: Int64
        package var failed: Int64
    }

    private let connection: PostgresConnection

    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// Apps with requests of the last day.
    package func status(at now: Date) async throws -> [Status] {
        try await connection.execute(Self.status, now, now.addingTimeInterval(-RefundProgress.limit)).map { row in
            Status(
                environment: try StoreEnvironment(stored: try row.value("environment")),
                bundleId: try row.value("bundle_id"), open: try row.value("open"),
                deadline: try row.optional("oldest_request", as: Date.self)?.addingTimeInterval(RefundProgress.limit),
                waiting: try row.value("waiting"), oldestWaiting: try row.optional("oldest_waiting"),
                missed: try row.value("missed"), failed: try row.value("failed"))
        }
    }

    static let statements = [status]

    /// Answers are decided within 12 hours of their request, and a request repeats for some time: three days hold those of the last. The
    /// newest request counts, because a repeat gives new time.
    private static let status = Statement(
        "refund-status",
        """
        with open as (
            select environment, bundle_id, count(*) as open, min(requested_at) as oldest_request
            from refund_request
            where next_at is not null and requested_at > $2::timestamptz
            group by environment, bundle_id
        ), answer as (
            select environment, bundle_id,
                count(*) filter (
                    where body is not null and sent_at is null and failed_at is null and is_open) as waiting,
                min(decided_at) filter (
                    where body is not null and sent_at is null and failed_at is null and is_open) as oldest_waiting,
                count(*) filter (
                    where withheld_because = 'late' and decided_at > $1::timestamptz - interval '1 day'
                        or failed_with = 'missed' and failed_at > $1::timestamptz - interval '1 day') as missed,
                count(*) filter (
                    where failed_at > $1::timestamptz - interval '1 day'
                        and failed_with not in ('missed', 'consentWithdrawn')) as failed
            from (
                select answer.*, exists (
                    select
                    from refund_request request
                    where request.environment = answer.environment and request.transaction_id = answer.transaction_id
                        and request.requested_at > greatest(request.outcome_at, $2::timestamptz)
                        and answer.decided_at > coalesce(request.outcome_at, '-infinity')) as is_open
                from refund_answer answer
                where decided_at > $1::timestamptz - interval '3 days'
            ) as answer
            group by environment, bundle_id
        )
        select environment::text as environment, bundle_id, coalesce(open, 0) as open, oldest_request,
            coalesce(waiting, 0) as waiting, oldest_waiting, coalesce(missed, 0) as missed, coalesce(failed, 0) as failed
        from open
        full join answer using (environment, bundle_id)
        order by bundle_id, environment
        """)
}
