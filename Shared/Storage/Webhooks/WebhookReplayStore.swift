import Postgres
import WebhookDelivery

import struct Foundation.Date
import struct Foundation.UUID

/// Sends changes of the timeline to an endpoint again, of any age, under their ids. What the endpoint's filter does not admit is not
/// replayed.
package struct WebhookReplayStore: Sendable {
    /// Which changes.
    package enum Selection: Sendable, Equatable {
        /// One, by its position in the feed of events.
        case one(Int64)
        /// All of a purchase.
        case purchase(String)
        /// Those that were applied in a time.
        case time(Range<Date>)
    }

    private let connection: PostgresConnection

    /// All statements run on this connection.
    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// How many changes would be sent.
    package func count(_ selection: Selection, to endpoint: UUID) async throws -> Int {
        let rows = try await connection.execute(
            Self.count, endpoint, selection.sequence, selection.purchase, selection.from, selection.to)
        return Int(try rows[0].value("count", as: Int64.self))
    }

    /// Enqueues them, with an entry of the audit log.
    /// - Returns: how many.
    package func replay(
        _ selection: Selection, to endpoint: UUID, at now: Date, audit: OperatorAction
    ) async throws -> Int {
        try await repeating {
            try await connection.transaction { transaction in
                let rows = try transaction.pipeline([
                    Command(
                        Self.replay, endpoint, now, selection.sequence, selection.purchase, selection.from, selection.to
                    ), OperatorActionStore.command(recording: [audit]),
                ])
                return Int(try rows[0][0].value("count", as: Int64.self))
            }
        }
    }

    static let statements = [count, replay]

    /// - Parameter first: the number of the first of the four parameters.
    private static func selected(_ first: Int) -> String {
        """
        from timeline
        join webhook_endpoint endpoint on \(WebhookQueueStore.filter)
        where endpoint.id = $1::uuid and ($\(first)::bigint is null or timeline.id = $\(first)::bigint)
            and ($\(first + 1)::text is null or timeline.original_transaction_id = $\(first + 1)::text)
            and ($\(first + 2)::timestamptz is null or timeline.applied_at >= $\(first + 2)::timestamptz)
            and ($\(first + 3)::timestamptz is null or timeline.applied_at < $\(first + 3)::timestamptz)
        """
    }

    private static let count = Statement(
        "webhook-replay-count", unsafeSQL: "select count(*) as count \(selected(2))")

    private static let replay = Statement(
        "webhook-replay",
        unsafeSQL: """
            with number as materialized (
                select nextval('webhook_replay_number') as replay
            ), added as (
                insert into webhook_delivery (
                    timeline_id, replay, endpoint, notification_uuid, day, original_transaction_id)
                select timeline.id, (select replay from number), endpoint.id, timeline.notification_uuid,
                    ($2::timestamptz at time zone 'UTC')::date, timeline.original_transaction_id
                \(selected(3))
                order by timeline.id
                returning endpoint, timeline_id, day, original_transaction_id
            ), queued as (
                \(WebhookQueueStore.queueing)
            )
            select count(*) as count from added
            """)
}

extension WebhookReplayStore.Selection {
    fileprivate var sequence: Int64? {
        guard case .one(let sequence) = self else { return nil }
        return sequence
    }

    fileprivate var purchase: String? {
        guard case .purchase(let id) = self else { return nil }
        return id
    }

    fileprivate var from: Date? {
        guard case .time(let range) = self else { return nil }
        return range.lowerBound
    }

    fileprivate var to: Date? {
        guard case .time(let range) = self else { return nil }
        return range.upperBound
    }
}
