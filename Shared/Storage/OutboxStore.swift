import Contracts
import Postgres

import struct Foundation.Date

/// What waits to be put on the log: changes of the timeline, and requests for recovery.
///
/// Ids do not commit in their order, so nobody remembers “the last one”: what is unpublished is asked for each time. Of
/// one purchase they do commit in order, because its row is locked while they are given.
public struct OutboxStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// A message and the row it comes from.
    public struct Waiting<Message: Sendable>: Sendable {
        /// For marking it as published.
        public var id: Int64
        /// What to send.
        public var message: Message
    }

    /// The oldest changes that are not published, in order. Send them in this order, all, before marking any.
    public func changes(limit: Int = 500) async throws -> [Waiting<SubscriptionChanged>] {
        try await connection.execute(Self.changes, Int64(limit)).map { row in
            Waiting(
                id: try row.value("id"),
                message: SubscriptionChanged(
                    environment: try SubscriptionStore.environment(row),
                    originalTransactionId: try row.value("original_transaction_id"),
                    bundleId: try row.value("bundle_id"), fact: try row.value("fact"),
                    from: try row.optional("changed_from"), to: try row.optional("changed_to"),
                    transactionId: try row.optional("transaction_id"),
                    notificationUUID: try row.value("notification_uuid"), occurredAt: try row.value("occurred_at"),
                    learnedAt: try row.value("learned_at"), traceparent: try row.optional("traceparent")))
        }
    }

    /// Marks changes that are on the log.
    public func markPublished(changes ids: [Int64], at time: Date) async throws {
        _ = try await repeating { try await connection.execute(Self.changesPublished, ids, time) }
    }

    /// Requests that are due. Those whose gap has closed meanwhile are forgotten instead.
    /// - Parameter time: younger ones wait, because most gaps are notifications that overtook each other.
    public func requests(noticedBefore time: Date, limit: Int = 500) async throws -> [Waiting<RecoveryRequest>] {
        try await repeating {
            try await connection.pipeline([
                Command(Self.withdraw, time), Command(Self.requests, time, Int64(limit)),
            ])[1]
        }.map { row in
            Waiting(id: try row.value("id"), message: try RecoveryRequest(row))
        }
    }

    /// Marks requests that are on the log.
    public func markPublished(requests ids: [Int64], at time: Date) async throws {
        _ = try await repeating { try await connection.execute(Self.requestsPublished, ids, time) }
    }

    /// Cut, because a record of the log has room for a megabyte and a text of Apple's may have it alone.
    static let changes = Statement(
        "outbox-changes",
        """
        select id, environment::text as environment, original_transaction_id, bundle_id, fact,
            left(changed_from, 4096) as changed_from, left(changed_to, 4096) as changed_to, transaction_id,
            notification_uuid, occurred_at, learned_at, traceparent
        from timeline
        where published_at is null
        order by id
        limit $1::bigint
        """)

    static let changesPublished = Statement(
        "outbox-changes-published",
        """
        update timeline
        set published_at = $2::timestamptz, traceparent = null
        where id = any ($1::bigint[]) and published_at is null
        """)

    static let withdraw = Statement(
        "outbox-withdraw",
        """
        delete from recovery_request as request
        where published_at is null and requested_at <= $1::timestamptz
            and not exists (
                select from skipped_step
                where skipped_step.environment = request.environment
                    and skipped_step.original_transaction_id = request.original_transaction_id
                    and skipped_step.before_uuid = request.before_uuid)
        """)

    static let requests = Statement(
        "outbox-requests",
        """
        select id, environment::text as environment, original_transaction_id, bundle_id, reason, before_uuid, from_at,
            to_at, requested_at
        from recovery_request
        where published_at is null and requested_at <= $1::timestamptz
        order by id
        limit $2::bigint
        """)

    static let requestsPublished = Statement(
        "outbox-requests-published",
        """
        update recovery_request
        set published_at = $2::timestamptz
        where id = any ($1::bigint[]) and published_at is null
        """)
}
