import Contracts
import Postgres

import struct Foundation.Date
import struct Foundation.UUID

/// Purchases whose time passed and of which nothing was heard since. An outbox: what is noticed is a row, and stays one
/// until the request is on the log.
public struct OverdueStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// A request and the row it comes from.
    public struct Waiting: Sendable {
        /// The time that passed, by Apple's clock; with the purchase it names the row.
        public var dueAt: Date
        /// What to send.
        public var message: RecoveryRequest
    }

    /// Notices what is overdue: active ones past their end, grace periods past theirs, and billing retries past the 60
    /// days that Apple goes on trying. Each once per purchase and time.
    /// - Parameters:
    ///   - apps: of whom Apple can be asked.
    ///   - time: what had ended by then and has not moved is overdue.
    /// - Returns: how many were new.
    public func notice(
        _ apps: [CoverageStore.App], endedBefore time: Date, limit: Int, at now: Date
    ) async throws -> Int {
        try await repeating {
            try await connection.execute(
                Self.notice, apps.map(\.environment.rawValue), apps.map(\.bundleId), time, Int64(limit), now
            ).affected
        }
    }

    /// What was noticed and is not on the log.
    public func waiting(limit: Int) async throws -> [Waiting] {
        try await connection.execute(Self.waiting, Int64(limit)).map { row in
            let dueAt: Date = try row.value("due_at")
            let noticedAt: Date = try row.value("noticed_at")
            return Waiting(
                dueAt: dueAt,
                message: RecoveryRequest(
                    environment: try SubscriptionStore.environment(row),
                    originalTransactionId: try row.value("original_transaction_id"),
                    bundleId: try row.value("bundle_id"), skipped: ["overdue"],
                    before: try row.value("notification_uuid"), from: try row.value("signed_at"), to: noticedAt,
                    requestedAt: noticedAt))
        }
    }

    /// Marks requests that are on the log.
    public func markPublished(_ requests: [Waiting], at time: Date) async throws {
        let messages = requests.map(\.message)
        _ = try await repeating {
            try await connection.execute(
                Self.published, messages.map(\.environment.rawValue), messages.map(\.originalTransactionId),
                requests.map(\.dueAt), time)
        }
    }

    /// Forgets what was noticed before a time.
    public func forget(noticedBefore time: Date) async throws -> Int {
        try await repeating { try await connection.execute(Self.forget, time).affected }
    }

    static let statements = [notice, waiting, published, forget]

    static let notice = Statement(
        "overdue-notice",
        """
        insert into overdue_inquiry (
            environment, original_transaction_id, bundle_id, due_at, noticed_at, notification_uuid, signed_at)
        select environment, original_transaction_id, bundle_id, due_at, $5::timestamptz, notification_uuid, signed_at
        from (
            select environment, original_transaction_id, bundle_id, notification_uuid, signed_at,
                case status
                    when 1 then expires_at
                    when 3 then expires_at + interval '60 days'
                    when 4 then coalesce(grace_period_expires_at, expires_at)
                end as due_at
            from subscription
            where status in (1, 3, 4) and expires_at < $3::timestamptz and revoked_at is null
                and (environment::text, bundle_id) in (select * from unnest($1::text[], $2::text[]))
        ) as given
        where due_at < $3::timestamptz
            and not exists (
                select from overdue_inquiry as asked
                where asked.environment = given.environment
                    and asked.original_transaction_id = given.original_transaction_id and asked.due_at = given.due_at)
        order by due_at
        limit $4::bigint
        on conflict do nothing
        """)

    static let waiting = Statement(
        "overdue-waiting",
        """
        select environment::text as environment, original_transaction_id, bundle_id, due_at, noticed_at,
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
        set published_at = $4::timestamptz
        from unnest($1::text[], $2::text[], $3::timestamptz[]) as given (environment, original_transaction_id, due_at)
        where overdue_inquiry.environment = given.environment::store_environment
            and overdue_inquiry.original_transaction_id = given.original_transaction_id
            and overdue_inquiry.due_at = given.due_at
        """)

    static let forget = Statement("overdue-forget", "delete from overdue_inquiry where noticed_at < $1::timestamptz")
}
