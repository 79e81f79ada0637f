import Contracts
import Postgres

import struct Foundation.Date
import struct Foundation.UUID

/// Purchases whose period has ended, or is about to, without a notification. An outbox: each becomes a row, which is
/// published as a recovery request.
public struct OverdueStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// A request and the row it comes from.
    public struct Waiting: Sendable {
        /// The end of the period, by Apple's clock; with the purchase and ``isBeforeEnd`` it is the key of the row.
        public var dueAt: Date
        /// Whether the row was created before that end.
        public var isBeforeEnd: Bool
        /// The message to send.
        public var message: RecoveryRequest
    }

    /// Adds overdue purchases: active ones past the end of their period, those past their grace period, and billing retries
    /// past the 60 days for which Apple retries. One row per purchase and end.
    /// - Parameter time: purchases that ended before it without a notification are overdue.
    /// - Returns: number of new rows.
    public func notice(
        of app: CoverageStore.App, endedBefore time: Date, limit: Int, at now: Date
    ) async throws -> Int {
        try await repeating {
            try await connection.execute(
                Self.notice, app.environment.rawValue, app.bundleId, time, Int64(limit), now
            ).affected
        }
    }

    /// Adds active, auto-renewing purchases that are about to end and should have been renewed by now. One row per purchase
    /// and end; ``notice`` adds another one after the end.
    /// - Parameter time: purchases that end before it, and have not ended, are near their end.
    /// - Returns: number of new rows.
    public func notice(
        of app: CoverageStore.App, endingBefore time: Date, limit: Int, at now: Date
    ) async throws -> Int {
        try await repeating {
            try await connection.execute(
                Self.noticeNear, app.environment.rawValue, app.bundleId, time, Int64(limit), now
            ).affected
        }
    }

    /// Requests that are not published yet, the oldest first.
    public func waiting(limit: Int) async throws -> [Waiting] {
        try await connection.execute(Self.waiting, Int64(limit)).map { row in
            let dueAt: Date = try row.value("due_at")
            let noticedAt: Date = try row.value("noticed_at")
            let isBeforeEnd: Bool = try row.value("before_end")
            return Waiting(
                dueAt: dueAt, isBeforeEnd: isBeforeEnd,
                message: RecoveryRequest(
                    environment: try SubscriptionStore.environment(row),
                    originalTransactionId: try row.value("original_transaction_id"),
                    bundleId: try row.value("bundle_id"), skipped: [isBeforeEnd ? "near its end" : "overdue"],
                    before: try row.value("notification_uuid"), from: try row.value("signed_at"), to: noticedAt,
                    requestedAt: noticedAt))
        }
    }

    /// Marks requests as published, after Kafka has acknowledged them.
    public func markPublished(_ requests: [Waiting], at time: Date) async throws {
        let messages = requests.map(\.message)
        _ = try await repeating {
            try await connection.execute(
                Self.published, messages.map(\.environment.rawValue), messages.map(\.originalTransactionId),
                requests.map(\.dueAt), requests.map(\.isBeforeEnd), time)
        }
    }

    /// Deletes rows created before a time.
    /// - Returns: number of rows.
    public func delete(noticedBefore time: Date) async throws -> Int {
        try await deletingInPortions { try await connection.execute(Self.delete, time, $0).affected }
    }

    static let statements = [notice, noticeNear, waiting, published, delete]

    /// The newest transaction may be refunded, such as seats that were added, while the subscription runs by Apple's
    /// status since. As in `SubscriptionState`, a status that Apple signed with the refund knows of it, and a refund takes
    /// effect when it is signed at the latest.
    static let notice = Statement(
        "overdue-notice",
        """
        insert into overdue_inquiry (
            environment, original_transaction_id, bundle_id, due_at, before_end, noticed_at, notification_uuid, signed_at)
        select environment, original_transaction_id, bundle_id, due_at, false, $5::timestamptz, notification_uuid,
            signed_at
        from (
            select environment, original_transaction_id, bundle_id, expires_at as due_at, notification_uuid, signed_at
            from subscription
            where environment = $1::text::store_environment and bundle_id = $2::text and status = 1
                and expires_at < $3::timestamptz
                and (revoked_at is null or status_event_at >= least(revoked_at, transaction_signed_at))
            union all
            select environment, original_transaction_id, bundle_id,
                expires_at
                    + case billing_plan_type when 'MONTHLY' then interval '90 days' else interval '60 days' end,
                notification_uuid, signed_at
            from subscription
            where environment = $1::text::store_environment and bundle_id = $2::text and status = 3
                and expires_at < $3::timestamptz - interval '60 days'
                -- Within a commitment Apple retries for longer.
                and (billing_plan_type is distinct from 'MONTHLY' or expires_at < $3::timestamptz - interval '90 days')
                and (revoked_at is null or status_event_at >= least(revoked_at, transaction_signed_at))
            union all
            select environment, original_transaction_id, bundle_id, coalesce(grace_period_expires_at, expires_at),
                notification_uuid, signed_at
            from subscription
            where environment = $1::text::store_environment and bundle_id = $2::text and status = 4
                and expires_at < $3::timestamptz and coalesce(grace_period_expires_at, expires_at) < $3::timestamptz
                and (revoked_at is null or status_event_at >= least(revoked_at, transaction_signed_at))
        ) as given
        where not exists (
            select from overdue_inquiry as asked
            where asked.environment = given.environment
                and asked.original_transaction_id = given.original_transaction_id and asked.due_at = given.due_at
                and not asked.before_end)
        order by due_at
        limit $4::bigint
        on conflict do nothing
        """)

    /// Includes purchases whose auto-renew status is unknown.
    static let noticeNear = Statement(
        "overdue-notice-near",
        """
        insert into overdue_inquiry (
            environment, original_transaction_id, bundle_id, due_at, before_end, noticed_at, notification_uuid, signed_at)
        select environment, original_transaction_id, bundle_id, expires_at, true, $5::timestamptz, notification_uuid,
            signed_at
        from subscription as near
        where environment = $1::text::store_environment and bundle_id = $2::text and status = 1
            and expires_at >= $5::timestamptz and expires_at < $3::timestamptz
            and (revoked_at is null or status_event_at >= least(revoked_at, transaction_signed_at))
            and is_auto_renewing is not false
            and not exists (
                select from overdue_inquiry as asked
                where asked.environment = near.environment
                    and asked.original_transaction_id = near.original_transaction_id and asked.due_at = near.expires_at
                    and asked.before_end)
        order by expires_at
        limit $4::bigint
        on conflict do nothing
        """)

    static let waiting = Statement(
        "overdue-waiting",
        """
        select environment::text as environment, original_transaction_id, bundle_id, due_at, before_end, noticed_at,
            notification_uuid, signed_at
        from overdue_inquiry
        where published_at is null
        order by noticed_at
        limit $1::bigint
        """)

    static let published = Statement(
        "overdue-published",
        """
        update overdue_inquiry
        set published_at = $5::timestamptz
        from unnest($1::text[], $2::text[], $3::timestamptz[], $4::boolean[])
            as given (environment, original_transaction_id, due_at, before_end)
        where overdue_inquiry.environment = given.environment::store_environment
            and overdue_inquiry.original_transaction_id = given.original_transaction_id
            and overdue_inquiry.due_at = given.due_at and overdue_inquiry.before_end = given.before_end
        """)

    static let delete = Statement(
        "overdue-delete",
        """
        delete from overdue_inquiry
        where ctid = any (array(
                select ctid
                from overdue_inquiry
                where noticed_at < $1::timestamptz
                order by noticed_at
                limit $2::bigint))
            and noticed_at < $1::timestamptz
        """)
}
