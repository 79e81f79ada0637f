import Postgres
import WebhookDelivery

import struct Foundation.Date
import struct Foundation.UUID

/// Sends changes of the timeline to an endpoint again, or to one of kind apple the notifications of the ledger, of any age, under their
/// ids. What the endpoint's filter does not admit is not replayed.
package struct WebhookReplayStore: Sendable {
    /// Which changes.
    package enum Selection: Sendable, Equatable {
        /// One, by its position in the feed of events; a notification by the number of a delivery to the endpoint.
        case one(Int64)
        /// All of a purchase.
        case purchase(String)
        /// Those that were applied, or stored, in a time, and that a filter admits. Notifications have no facts.
        case time(Range<Date>, WebhookFilter = WebhookFilter())
    }

    private let connection: PostgresConnection

    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// An earlier replay to the endpoint has changes that wait.
    package struct Unfinished: Error {}

    /// How many changes would be sent.
    /// - Parameter most: counts no further; nil counts all.
    package func count(
        _ selection: Selection, to endpoint: UUID, _ kind: WebhookEndpoint.Kind = .changes, most: Int? = nil
    ) async throws -> Int {
        let rows = try await connection.pipeline([
            Command(selection.count(kind), all: selection.values(kind, after: [endpoint, most.map { Int64($0) }]))
        ])
        return Int(try rows[0][0].value("count", as: Int64.self))
    }

    /// Enqueues them, with an entry of the audit log.
    /// - Parameters:
    ///   - most: enqueues no more, and none where an earlier replay to the endpoint is unfinished; nil has no limit.
    ///   - storing: further statements of the transaction that enqueues as many.
    /// - Returns: how many.
    /// - Throws: `Unfinished`.
    package func replay(
        _ selection: Selection, to endpoint: UUID, _ kind: WebhookEndpoint.Kind = .changes, at now: Date,
        most: Int? = nil, audit: OperatorAction, storing: @escaping @Sendable (Int) -> [Command] = { _ in [] }
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
                    Command(
                        selection.replay(kind),
                        all: selection.values(kind, after: [endpoint, now, most.map { Int64($0) }])),
                    OperatorActionStore.command(recording: [audit]),
                ])
                let count = Int(try rows[0][0].value("count", as: Int64.self))
                try transaction.commit(after: storing(count))
                return count
            }
        }
    }

    static let statements =
        [lock, unfinished] + [countOfOne, countOfPurchase, countOfTime] + [replayOfOne, replayOfPurchase, replayOfTime]
        + [countOfRelay, countOfRelaysOfPurchase, countOfRelaysOfTime]
        + [replayOfRelay, replayOfRelaysOfPurchase, replayOfRelaysOfTime]

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

    fileprivate static let countOfRelay = count("webhook-relay-count-one", relayed(relay(3)))
    fileprivate static let countOfRelaysOfPurchase = count("webhook-relay-count-purchase", relayed(relayPurchase(3)))
    fileprivate static let countOfRelaysOfTime = count("webhook-relay-count-time", relayed(relayTime(3)))
    fileprivate static let replayOfRelay = replayRelays("webhook-relay-one", relay(4))
    fileprivate static let replayOfRelaysOfPurchase = replayRelays("webhook-relay-purchase", relayPurchase(4))
    fileprivate static let replayOfRelaysOfTime = replayRelays("webhook-relay-time", relayTime(4))

    /// - Parameter first: the number of the first parameter of the condition.
    private static func one(_ first: Int) -> String { selected("timeline", "timeline.id = $\(first)::bigint") }

    private static func purchase(_ first: Int) -> String {
        selected("timeline", "timeline.original_transaction_id = $\(first)::text")
    }

    /// Offset 0 keeps the planner from reading the whole timeline in the order of ids.
    private static func time(_ first: Int) -> String {
        selected(
            """
            (
                select *
                from timeline
                where applied_at >= $\(first)::timestamptz and applied_at < $\(first + 1)::timestamptz
                offset 0
            ) as timeline
            """,
            WebhookQueueStore.admitted(
                apps: "$\(first + 2)::text[]", events: "$\(first + 3)::text[]", facts: "$\(first + 4)::text[]"))
    }

    private static func selected(_ rows: String, _ condition: String) -> String {
        """
        from \(rows)
        join webhook_endpoint endpoint on \(WebhookQueueStore.filter)
        where endpoint.id = $1::uuid and \(condition)
        """
    }

    private static func relay(_ first: Int) -> String {
        """
        notification.notification_uuid = (
            select notification_uuid
            from webhook_delivery
            where webhook_delivery.endpoint = $1::uuid and timeline_id = $\(first)::bigint
            limit 1)
        """
    }

    private static func relayPurchase(_ first: Int) -> String {
        "notification.original_transaction_id = $\(first)::text"
    }

    private static func relayTime(_ first: Int) -> String {
        """
        notification.recorded_at >= $\(first)::timestamptz and notification.recorded_at < $\(first + 1)::timestamptz
            and \(WebhookQueueStore.relayed(apps: "$\(first + 2)::text[]", events: "$\(first + 3)::text[]"))
        """
    }

    private static func relayed(_ condition: String) -> String {
        """
        from notification
        join webhook_endpoint endpoint on \(WebhookQueueStore.relayFilter)
        where endpoint.id = $1::uuid and \(condition)
        """
    }

    private static func replayRelays(_ name: StaticString, _ condition: String) -> Statement {
        Statement(
            name,
            unsafeSQL: """
                with number as materialized (
                    select nextval('webhook_replay_number') as replay
                ), added as (
                    insert into webhook_delivery (
                        timeline_id, replay, endpoint, notification_uuid, day, original_transaction_id)
                    select nextval('webhook_relay_number'), (select replay from number), endpoint, notification_uuid,
                        ($2::timestamptz at time zone 'UTC')::date, original_transaction_id
                    from (
                        select endpoint.id as endpoint, notification.notification_uuid,
                            coalesce(notification.original_transaction_id, '') as original_transaction_id
                        \(relayed(condition))
                        order by notification.signed_at, notification.notification_uuid
                        limit $3::bigint
                    ) as wanted
                    returning endpoint, timeline_id, day, original_transaction_id
                ), queued as (
                    \(WebhookQueueStore.queueing)
                )
                select count(*) as count from added
                """)
    }

    private static func count(_ name: StaticString, _ source: String) -> Statement {
        Statement(
            name,
            unsafeSQL: """
                select count(*) as count
                from (
                    select 1 as one
                    \(source)
                    limit $2::bigint
                ) as selected
                """)
    }

    private static func replay(_ name: StaticString, _ selected: String) -> Statement {
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
                    \(selected)
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
    fileprivate func count(_ kind: WebhookEndpoint.Kind) -> Statement {
        switch (self, kind) {
        case (.one, .changes): WebhookReplayStore.countOfOne
        case (.purchase, .changes): WebhookReplayStore.countOfPurchase
        case (.time, .changes): WebhookReplayStore.countOfTime
        case (.one, .apple): WebhookReplayStore.countOfRelay
        case (.purchase, .apple): WebhookReplayStore.countOfRelaysOfPurchase
        case (.time, .apple): WebhookReplayStore.countOfRelaysOfTime
        }
    }

    fileprivate func replay(_ kind: WebhookEndpoint.Kind) -> Statement {
        switch (self, kind) {
        case (.one, .changes): WebhookReplayStore.replayOfOne
        case (.purchase, .changes): WebhookReplayStore.replayOfPurchase
        case (.time, .changes): WebhookReplayStore.replayOfTime
        case (.one, .apple): WebhookReplayStore.replayOfRelay
        case (.purchase, .apple): WebhookReplayStore.replayOfRelaysOfPurchase
        case (.time, .apple): WebhookReplayStore.replayOfRelaysOfTime
        }
    }

    /// Some parameters, and behind them those of the condition.
    fileprivate func values(
        _ kind: WebhookEndpoint.Kind, after first: [any PostgresParameter]
    ) -> [any PostgresParameter] {
        var values = first
        switch self {
        case .one(let sequence): values.append(sequence)
        case .purchase(let id): values.append(id)
        case .time(let range, let filter):
            values += [range.lowerBound, range.upperBound, filter.bundleIds, filter.events]
            if kind == .changes { values.append(filter.facts) }
        }
        return values
    }
}
