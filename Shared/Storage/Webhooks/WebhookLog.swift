import Postgres
import WebhookDelivery

import struct Foundation.Date
import struct Foundation.UUID

/// Reads what became of webhooks: deliveries for 30 days, failed attempts for 14.
package struct WebhookLog: Sendable {
    /// What becomes of a delivery.
    package enum State: String, Sendable, CaseIterable {
        case waiting
        case delivered
        /// All attempts failed, an operator resumed the endpoint from a later moment, or what was to be sent was erased or is damaged: the
        /// last attempt says which. It can be replayed.
        case givenUp = "given-up"
    }

    /// A delivery without its body.
    package struct Delivery: Sendable, Equatable {
        /// The sequence of the change in the feed of events; for a notification the number of the delivery.
        package var sequence: Int64
        /// 0; else the number of the replay.
        package var replay: Int64
        package var state: State
        /// Apple's type, or type and subtype.
        package var event: String
        /// Empty of a notification about no purchase.
        package var originalTransactionId: String
        package var notificationUUID: UUID
        /// When the change was applied, or the notification was stored.
        package var appliedAt: Date
        /// Attempts that count: none of those to a receiver that fails altogether.
        package var attempts: Int32
        package var firstAttemptAt: Date?
        package var finishedAt: Date?
        /// Of the last attempt; nil without an answer.
        package var status: Int16?
        /// Of the last attempt.
        package var milliseconds: Int32?

        /// The header `webhook-id`.
        package var id: String {
            let uuid = notificationUUID.uuidString.lowercased()
            return sequence < WebhookQueueStore.firstRelay ? "\(uuid)/\(originalTransactionId)" : uuid
        }
    }

    /// A failed attempt, or a test.
    package struct Attempt: Sendable, Equatable {
        package var at: Date
        /// Nil of a test.
        package var sequence: Int64?
        /// 0; else the number of the replay.
        package var replay: Int64
        /// Nil without an answer.
        package var status: Int16?
        package var milliseconds: Int32
        /// Nil of a test that was answered with 2xx.
        package var fault: String?
        package var answer: String?
    }

    private let connection: PostgresConnection

    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// The deliveries of an endpoint, the newest changes first.
    /// - Parameters:
    ///   - state: nil is any.
    ///   - before: only older changes, for the next page.
    ///   - limit: a page may have more: the last change has all of its deliveries, so that the next page leaves out none.
    package func deliveries(
        of endpoint: UUID, in state: State? = nil, before: Int64? = nil, limit: Int
    ) async throws -> [Delivery] {
        try await connection.execute(Self.deliveries, endpoint, state?.rawValue, before, Int64(limit)).map { row in
            Delivery(
                sequence: try row.value("timeline_id"), replay: try row.value("replay"),
                state: State(rawValue: try row.value("state")) ?? .waiting, event: try row.value("event"),
                originalTransactionId: try row.value("original_transaction_id"),
                notificationUUID: try row.value("notification_uuid"), appliedAt: try row.value("applied_at"),
                attempts: try row.value("attempts"), firstAttemptAt: try row.optional("first_attempt_at"),
                finishedAt: try row.optional("finished_at"), status: try row.optional("status"),
                milliseconds: try row.optional("milliseconds"))
        }
    }

    /// The failed attempts of some changes at an endpoint, in their order.
    /// - Parameters:
    ///   - sequences: each once.
    ///   - most: the newest of each change; nil is all.
    package func attempts(
        of endpoint: UUID, at sequences: [Int64], most: Int? = nil
    ) async throws -> [Attempt] {
        try await connection.execute(Self.attempts, endpoint, sequences, most.map { Int64($0) }).map { row in
            try Self.attempt(row)
        }
    }

    /// The tests of an endpoint since a moment, in their order.
    package func tests(of endpoint: UUID, since: Date) async throws -> [Attempt] {
        try await connection.execute(Self.tests, endpoint, since).map { row in try Self.attempt(row) }
    }

    private static func attempt(_ row: Row) throws -> Attempt {
        Attempt(
            at: try row.value("attempted_at"), sequence: try row.optional("timeline_id"),
            replay: try row.value("replay"), status: try row.optional("status"),
            milliseconds: try row.value("milliseconds"), fault: try row.optional("fault"),
            answer: try row.optional("answer"))
    }

    static let statements = [deliveries, attempts, tests]

    private static let deliveries = Statement(
        "webhook-deliveries",
        """
        select *
        from (
            select timeline_id, replay, state,
                coalesce(timeline.event, concat_ws('/', notification.notification_type, notification.subtype)) as event,
                webhook_delivery.original_transaction_id, webhook_delivery.notification_uuid,
                coalesce(timeline.applied_at, notification.recorded_at) as applied_at, attempts, first_attempt_at,
                finished_at, webhook_delivery.status, milliseconds
            from webhook_delivery
            left join timeline on timeline.id = webhook_delivery.timeline_id
            left join notification
                on timeline.id is null and notification.notification_uuid = webhook_delivery.notification_uuid
            where endpoint = $1::uuid and ($2::text is null or state = $2::text)
                and ($3::bigint is null or timeline_id < $3::bigint)
                and coalesce(timeline.applied_at, notification.recorded_at) is not null
            order by timeline_id desc
            fetch first ($4::bigint) rows with ties
        ) as delivery
        order by timeline_id desc, replay desc
        """)

    private static let attempts = Statement(
        "webhook-attempts",
        """
        select attempted_at, timeline_id, replay, status, milliseconds, fault, answer
        from unnest($2::bigint[]) as given (sequence)
        cross join lateral (
            select *
            from webhook_attempt
            where endpoint = $1::uuid and timeline_id = given.sequence
            order by attempted_at desc
            limit $3::bigint
        ) as newest
        order by attempted_at
        """)

    private static let tests = Statement(
        "webhook-tests",
        """
        select attempted_at, timeline_id, replay, status, milliseconds, fault, answer
        from webhook_attempt
        where endpoint = $1::uuid and timeline_id is null and attempted_at >= $2::timestamptz
        order by attempted_at
        """)
}
