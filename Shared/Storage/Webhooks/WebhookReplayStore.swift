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

    /// An earlier replay to the endpoint has changes that wait.
    package struct Unfinished: Error {}

    /// How many changes would be sent.
    /// - Parameter most: counts no further; nil counts all.
    package func count(_ selection: Selection, to endpoint: UUID, most: Int? = nil) async throws -> Int {
        let rows = try await connection.pipeline([
            Command(selection.count, all: selection.values(after: [endpoint, most.map { Int64($0) }]))
        ])
        return Int(try rows[0][0].value("count", as: Int64.self))
    }

    /// Enqueues them, with an entry of the audit log.
    /// - Parameter most: enqueues no more, and none where an earlier replay to the endpoint is unfinished; nil has no limit.
    /// - Returns: how many.
    /// - Throws: `Unfinished`.
    package func replay(
        _ selection: Selection, to endpoint: UUID, at now: Date, most: Int? = nil, audit: OperatorAction
    ) async throws -> Int {
        try await repeating {
            try await connection.transaction { transaction in
                if most != nil {
                    // One request after the other, so that two do not both find none.
                    let unfinished = try transaction.pipeline([
                        Command(Self.lock, endpoint), Command(Self.unfinished, endpoint),
                    ])[1]
                    guard unfinished.isEmpty else { throw Unfinished() }
                }
                let rows = try transaction.pipeline([
                    Command(selection.replay, all: selection.values(after: [endpoint, now, most.map { Int64($0) }])),
                    OperatorActionStore.command(recording: [audit]),
                ])
                return Int(try rows[0][0].value("count", as: Int64.self))
            }
        }
    }

    static let statements =
        [lock, unfinished] + [countOfOne, countOfPurchase, countOfTime] + [replayOfOne, replayOfPurchase, replayOfTime]

    private static let lock = Statement(
        "webhook-replay-lock",
        "select pg_advisory_xact_lock(hashtextextended(current_schema() || ' webhook replay ' || $1::uuid::text, 0))")

    private static let unfinished = Statement(
        "webhook-replay-unfinished",
        """
        select 1 as one
        from webhook_delivery
        where endpoint = $1::uuid and state = 'waiting' and replay > 0
        limit 1
        """)

    // A statement for each kind of selection: one for all of them has a plan that uses the index of none.
    fileprivate static let countOfOne = count("webhook-replay-count-one", one(3))
    fileprivate static let countOfPurchase = count("webhook-replay-count-purchase", purchase(3))
    fileprivate static let countOfTime = count("webhook-replay-count-time", time(3))
    fileprivate static let replayOfOne = replay("webhook-replay-one", one(4))
    fileprivate static let replayOfPurchase = replay("webhook-replay-purchase", purchase(4))
    fileprivate static let replayOfTime = replay("webhook-replay-time", time(4))

    /// - Parameter first: the number of the first parameter of the condition.
    private static func one(_ first: Int) -> String { "timeline.id = $\(first)::bigint" }

    private static func purchase(_ first: Int) -> String { "timeline.original_transaction_id = $\(first)::text" }

    private static func time(_ first: Int) -> String {
        "timeline.applied_at >= $\(first)::timestamptz and timeline.applied_at < $\(first + 1)::timestamptz"
    }

    private static func selected(_ condition: String) -> String {
        """
        from timeline
        join webhook_endpoint endpoint on \(WebhookQueueStore.filter)
        where endpoint.id = $1::uuid and \(condition)
        """
    }

    private static func count(_ name: StaticString, _ condition: String) -> Statement {
        Statement(
            name,
            unsafeSQL: """
                select count(*) as count
                from (
                    select 1 as one
                    \(selected(condition))
                    limit $2::bigint
                ) as selected
                """)
    }

    private static func replay(_ name: StaticString, _ condition: String) -> Statement {
        Statement(
            name,
            unsafeSQL: """
                with number as materialized (
                    select nextval('webhook_replay_number') as replay
                ), added as (
                    insert into webhook_delivery (
                        timeline_id, replay, endpoint, notification_uuid, day, original_transaction_id)
                    select timeline.id, (select replay from number), endpoint.id, timeline.notification_uuid,
                        ($2::timestamptz at time zone 'UTC')::date, timeline.original_transaction_id
                    \(selected(condition))
                    order by timeline.id
                    limit $3::bigint
                    returning endpoint, timeline_id, day, original_transaction_id
                ), queued as (
                    \(WebhookQueueStore.queueing)
                )
                select count(*) as count from added
                """)
    }
}

extension WebhookReplayStore.Selection {
    fileprivate var count: Statement {
        switch self {
        case .one: WebhookReplayStore.countOfOne
        case .purchase: WebhookReplayStore.countOfPurchase
        case .time: WebhookReplayStore.countOfTime
        }
    }

    fileprivate var replay: Statement {
        switch self {
        case .one: WebhookReplayStore.replayOfOne
        case .purchase: WebhookReplayStore.replayOfPurchase
        case .time: WebhookReplayStore.replayOfTime
        }
    }

    /// Some parameters, and behind them those of the condition.
    fileprivate func values(after first: [any PostgresParameter]) -> [any PostgresParameter] {
        var values = first
        switch self {
        case .one(let sequence): values.append(sequence)
        case .purchase(let id): values.append(id)
        case .time(let range):
            values.append(range.lowerBound)
            values.append(range.upperBound)
        }
        return values
    }
}
