import Contracts
import Postgres
import WebhookDelivery

import struct Foundation.Date
import struct Foundation.UUID

/// What waits for the endpoints: enqueues changes with the Kafka offset, lends the oldest delivery of a purchase to one sender at a
/// time, and stores what became of it. Leases, and when an attempt is due, follow the clock of the database, so that a sender whose own
/// clock is wrong takes nothing that another one holds.
package struct WebhookQueueStore: Sendable {
    /// How long a sender may take, in seconds: four times the longest request.
    package static let leaseSeconds: Double = 60
    /// Days for which a delivery waits, and its log is kept.
    package static let deliveryDays = 30
    /// The number of the first notification that was enqueued for an endpoint of kind apple; each row of the timeline has a lower one.
    package static let firstRelay: Int64 = 1 << 52

    private let connection: PostgresConnection

    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// The outcome of ``enqueue(_:moving:at:)``.
    package enum Enqueued: Sendable, Equatable {
        /// Number of purchases, or events, with something to send; 0 where no endpoint wants any of it.
        case stored(Int)
        /// Another worker has moved an offset; nothing was changed.
        case fenced
    }

    /// Enqueues changes for the endpoints that want them and moves the stored offsets, in one transaction. A change that was enqueued
    /// before is not enqueued again, so that a repetition of the topic reverses nothing.
    /// - Parameters:
    ///   - sequences: rows of the timeline.
    ///   - moves: one per partition of the batch.
    package func enqueue(_ sequences: [Int64], moving moves: [PositionMove], at now: Date) async throws -> Enqueued {
        struct Fence: Error {}
        do {
            return try await repeating {
                try await connection.transaction { transaction in
                    let oldest = now.addingTimeInterval(-Double(Self.deliveryDays) * 86_400)
                    let results = try transaction.pipeline([
                        PositionStore.command(moving: moves), Command(Self.endpoints),
                        Command(Self.enqueue, sequences, oldest),
                    ])
                    guard results[0].affected == moves.count else { throw Fence() }
                    return .stored(results[2].affected)
                }
            }
        } catch is Fence {
            return .fenced
        }
    }

    /// A delivery that this process sends now.
    package struct Claim: Sendable, Equatable {
        /// The place in the queue.
        package struct Place: Sendable, Hashable {
            package var endpoint: UUID
            package var originalTransactionId: String
            /// 0; of an endpoint without order the timeline's id.
            package var lane: Int64

            package init(endpoint: UUID, originalTransactionId: String, lane: Int64) {
                self.endpoint = endpoint
                self.originalTransactionId = originalTransactionId
                self.lane = lane
            }
        }

        package var place: Place
        /// Of the process; it ends after ``leaseSeconds``.
        package var lease: UUID
        /// Nil where nothing waits there any more.
        package var delivery: Delivery?
        /// Whether it is the one request to an endpoint that fails.
        package var isProbe = false
    }

    /// What is sent.
    package struct Delivery: Sendable, Equatable {
        package var content: Content
        /// 0; else the number of the replay.
        package var replay: Int64
        /// Of the partition.
        package var day: String
        /// Failed attempts that count.
        package var attempts: Int32
        /// The position in the feed of events; of a notification its number.
        package var sequence: Int64

        /// Nil of a notification.
        package var message: SubscriptionChanged? {
            guard case .change(let message) = content else { return nil }
            return message
        }
    }

    /// What a request says, read when it is sent.
    package enum Content: Sendable, Equatable {
        /// The message as it says now, not as it said when it was enqueued.
        case change(SubscriptionChanged)
        /// Apple's notification as it was signed; nil where it was erased meanwhile.
        case relay(UUID, signedPayload: [UInt8]?)
        /// Apple's notification, of which the stored bytes are damaged. The fault is a clause.
        case unreadable(UUID, fault: String)
    }

    /// Leases places in the queue that are due.
    /// - Parameters:
    ///   - places: how many for each endpoint.
    ///   - probes: endpoints of which a place is taken that is not due, too.
    ///   - lease: new for each call.
    package func claim(_ places: [UUID: Int], probes: Set<UUID>, lease: UUID) async throws -> [Claim] {
        let places = places.filter { $0.value > 0 }.sorted { $0.key < $1.key }
        guard !places.isEmpty else { return [] }
        let rows = try await repeating {
            try await connection.pipeline([
                Command(
                    Self.claim, places.map(\.key), places.map { Int64($0.value) },
                    places.map { probes.contains($0.key) }, Self.leaseSeconds, lease),
                Command(Self.claimed, lease),
            ])
        }
        let at = TimelineRow.selectedCount
        let relayed = try rows[1].compactMap { row in
            try row.optional(at: at + 6, as: Int64.self).map { $0 >= Self.firstRelay } ?? false
                ? try row.value(at: at + 7, as: UUID.self) : nil
        }
        let originals = try await originals(of: relayed, under: lease)
        return try rows[1].map { row in
            let place = Claim.Place(
                endpoint: try row.value(at: at), originalTransactionId: try row.value(at: at + 1),
                lane: try row.value(at: at + 2))
            guard try row.optional(at: at + 3, as: Int64.self) != nil else {
                return Claim(place: place, lease: lease, delivery: nil, isProbe: probes.contains(place.endpoint))
            }
            let (sequence, uuid): (Int64, UUID) = (try row.value(at: at + 6), try row.value(at: at + 7))
            let content =
                sequence < Self.firstRelay
                ? Content.change(try TimelineRow.read(row).message)
                : originals[uuid] ?? .relay(uuid, signedPayload: nil)
            return Claim(
                place: place, lease: lease,
                delivery: Delivery(
                    content: content, replay: try row.value(at: at + 3), day: try row.value(at: at + 4),
                    attempts: try row.value(at: at + 5), sequence: sequence),
                isProbe: probes.contains(place.endpoint))
        }
    }

    /// The notifications as Apple signed them; without those that were erased, or that retention has dropped. One that is damaged
    /// keeps back no other one.
    private func originals(of notifications: [UUID], under lease: UUID) async throws -> [UUID: Content] {
        guard !notifications.isEmpty else { return [:] }
        return try await connection.execute(Self.originals, lease, notifications).reduce(into: [:]) { originals, row in
            let uuid = try row.value("notification_uuid", as: UUID.self)
            let stored = SignedOriginal(blob: try row.value("signed_original"), headers: try row.value("headers"))
            do throws(SignedOriginal.Damage) {
                originals[uuid] = .relay(uuid, signedPayload: try stored.original())
            } catch {
                originals[uuid] = .unreadable(uuid, fault: error.description)
            }
        }
    }

    /// The most notifications that ``takeArrivals(at:)`` takes.
    package static let arrivals = 1000

    /// Enqueues notifications that the ledger has stored for the endpoints of kind apple that want them, each once, in the order of
    /// their numbers. One process at a time does, so that a later notification of a purchase does not become visible first.
    /// - Returns: how many notifications were taken, at most ``arrivals``; 0 where there are none, where another process takes them, or where
    ///   a replay holds a place that they need: the caller sends what it can, and looks again.
    package func takeArrivals(at now: Date) async throws -> Int {
        // Almost always there are none.
        guard try await !connection.execute(Self.arrived).isEmpty else { return 0 }
        let oldest = now.addingTimeInterval(-Double(Self.deliveryDays) * 86_400)
        do {
            return try await repeating {
                try await connection.transaction { transaction in
                    let taken = try transaction.pipeline([
                        Command(Self.arrivalTimeout), Command(Self.lockArrivals), Command(Self.endpoints),
                    ])
                    guard try taken[1][0].value("is_taken", as: Bool.self) else { return 0 }
                    let rows = try transaction.execute(Self.takeArrivals, Int64(Self.arrivals), oldest)
                    return Int(try rows[0].value("count", as: Int64.self))
                }
            }
        } catch let error as PostgresError where error.sqlState == "55P03" {
            return 0
        }
    }

    /// Takes the right to send the next request to an endpoint that fails or is tested, for the time of a lease.
    /// - Parameter endpoints: whose time has come.
    /// - Returns: those that no other process took.
    package func takeProbes(_ endpoints: [UUID]) async throws -> Set<UUID> {
        guard !endpoints.isEmpty else { return [] }
        return Set(
            try await repeating { try await connection.execute(Self.takeProbes, endpoints, Self.leaseSeconds) }
                .map { row in try row.value("endpoint", as: UUID.self) })
    }

    static let statements = [
        endpoints, enqueue, claim, claimed, originals, takeProbes, arrived, lockArrivals, takeArrivals,
    ]

    /// Holds back a removal of an endpoint until what is enqueued for it is stored.
    private static let endpoints = Statement(
        "webhook-endpoints-hold", "select id from webhook_endpoint order by id for key share")

    /// All sending waits meanwhile.
    private static let arrivalTimeout = Statement(unsafeSQL: "set local lock_timeout = '200ms'")

    private static let arrived = Statement("webhook-arrived", "select number from relay_arrival limit 1")

    private static let lockArrivals = Statement(
        "webhook-arrivals-lock",
        """
        select pg_try_advisory_xact_lock(hashtextextended(current_schema() || ' webhook arrivals', 0)) as is_taken
        """)

    /// Which endpoints of kind apple want a row of `notification`; replays use it, too.
    static let relayFilter = """
        endpoint.kind = 'apple' and endpoint.environment = notification.environment
            and is_relayed(notification.notification_type)
            and \(relayed(apps: "endpoint.bundle_ids", events: "endpoint.events"))
        """

    /// Whether lists, of which an empty one admits all, admit a row of `notification`.
    static func relayed(apps: String, events: String) -> String {
        """
        (\(apps) = '{}' or notification.bundle_id = any (\(apps)))
            and (
                \(events) = '{}' or notification.notification_type = any (\(events))
                or concat_ws('/', notification.notification_type, notification.subtype) = any (\(events)))
        """
    }

    /// Notifications about no purchase have no order among them, so that none waits for another.
    private static let takeArrivals = Statement(
        "webhook-arrivals-take",
        unsafeSQL: """
            with arrived as (
                delete from relay_arrival
                where number = any (
                    array(
                        select number
                        from relay_arrival
                        order by number
                        limit $1::bigint))
                returning number, notification_uuid, recorded_at
            ), added as (
                insert into webhook_delivery (
                    timeline_id, replay, endpoint, notification_uuid, day, original_transaction_id)
                select arrived.number, 0, endpoint.id, arrived.notification_uuid,
                    (arrived.recorded_at at time zone 'UTC')::date, coalesce(notification.original_transaction_id, '')
                from arrived
                join notification on notification.notification_uuid = arrived.notification_uuid
                join webhook_endpoint endpoint on \(relayFilter)
                where arrived.recorded_at >= endpoint.starts_at and arrived.recorded_at >= $2::timestamptz
                order by endpoint.id, arrived.number
                returning endpoint, timeline_id, day, original_transaction_id
            ), queued as (
                \(queueing)
            )
            select count(*) as count from arrived
            """)

    private static let originals = Statement(
        "webhook-originals",
        """
        select notification_uuid, signed_original, headers
        from relayed_originals($1::uuid, $2::uuid[])
        """)

    /// Which endpoints want a change; `replay` uses it, too. ``WebhookFilter/admits(_:)`` says the same.
    static let filter = """
        endpoint.kind = 'changes' and endpoint.environment = timeline.environment
            and \(admitted(apps: "endpoint.bundle_ids", events: "endpoint.events", facts: "endpoint.facts"))
        """

    /// Whether lists, of which an empty one admits all, admit a row of `timeline`.
    static func admitted(apps: String, events: String, facts: String) -> String {
        """
        (\(apps) = '{}' or timeline.bundle_id = any (\(apps)))
            and (
                \(events) = '{}' or timeline.event = any (\(events))
                or split_part(timeline.event, '/', 1) = any (\(events)))
            and (
                \(facts) = '{}'
                or exists (
                    select
                    from jsonb_array_elements(timeline.changes) as change
                    where change ->> 'fact' = any (\(facts))))
        """
    }

    /// Offset 0 makes the planner look up the rows by their ids, however many the table has after a time.
    private static let enqueue = Statement(
        "webhook-enqueue",
        unsafeSQL: """
            with added as (
                insert into webhook_delivery (
                    timeline_id, replay, endpoint, notification_uuid, day, original_transaction_id)
                select timeline.id, 0, endpoint.id, timeline.notification_uuid,
                    (timeline.applied_at at time zone 'UTC')::date, timeline.original_transaction_id
                from (
                    select *
                    from timeline
                    where id = any ($1::bigint[])
                    offset 0
                ) as timeline
                join webhook_endpoint endpoint on \(filter)
                where timeline.applied_at >= endpoint.starts_at and timeline.applied_at >= $2::timestamptz
                order by endpoint.id, timeline.id
                on conflict do nothing
                returning endpoint, timeline_id, day, original_transaction_id
            )
            \(queueing)
            """)

    /// Puts the rows of `added` into the queue, due at once.
    static let queueing = """
        insert into webhook_queue (next_attempt_at, lane, endpoint, since, until, original_transaction_id)
        select statement_timestamp(), lane, endpoint, min(day), max(day), original_transaction_id
        from (
            select added.endpoint, added.day, added.original_transaction_id,
                case when endpoint.is_ordered and added.original_transaction_id <> '' then 0 else added.timeline_id end as lane
            from added
            join webhook_endpoint endpoint on endpoint.id = added.endpoint
        ) as waiting
        group by endpoint, original_transaction_id, lane
        order by endpoint, original_transaction_id, lane
        on conflict (endpoint, original_transaction_id, lane) do update
        set since = least(webhook_queue.since, excluded.since), until = greatest(webhook_queue.until, excluded.until)
        """

    /// By the places of the rows, because the planner knows nothing of how few there are.
    private static let claim = Statement(
        "webhook-claim",
        """
        update webhook_queue
        set lease = $5::uuid,
            next_attempt_at = statement_timestamp() + $4::double precision * interval '1 second'
        where ctid = any (
            array(
                select taken.place
                from unnest($1::uuid[], $2::bigint[], $3::boolean[]) as given (endpoint, places, is_probe)
                cross join lateral (
                    select ctid as place
                    from webhook_queue
                    where webhook_queue.endpoint = given.endpoint
                        and next_attempt_at
                            <= case when given.is_probe then 'infinity' else statement_timestamp() end
                        and (next_attempt_at <= statement_timestamp() or lease is null)
                    order by next_attempt_at
                    limit given.places
                    for update skip locked
                ) as taken))
        """)

    /// The places of a lease with the oldest delivery of each. A statement of its own, so that it sees what was committed before the
    /// lease was taken.
    private static let claimed = Statement(
        "webhook-claimed",
        unsafeSQL: """
            select \(TimelineRow.selected), head_endpoint, head_purchase, head_lane, head_replay, head_day, head_attempts,
                head_timeline_id, head_uuid
            from (
                select webhook_queue.endpoint as head_endpoint,
                    webhook_queue.original_transaction_id as head_purchase, webhook_queue.lane as head_lane,
                    first.timeline_id as head_timeline_id, first.replay as head_replay, first.day::text as head_day,
                    first.attempts as head_attempts, first.notification_uuid as head_uuid
                from webhook_queue
                left join lateral (
                    select timeline_id, replay, day, attempts, notification_uuid
                    from webhook_delivery
                    where webhook_delivery.endpoint = webhook_queue.endpoint
                        and webhook_delivery.original_transaction_id = webhook_queue.original_transaction_id
                        and state = 'waiting' and day between webhook_queue.since and webhook_queue.until
                        and (webhook_queue.lane = 0 or timeline_id = webhook_queue.lane)
                    order by timeline_id, replay
                    limit 1
                ) as first on true
                where webhook_queue.lease = $1::uuid
            ) as head
            left join (\(TimelineRow.source)) on timeline.id = head_timeline_id
            """)

    private static let takeProbes = Statement(
        "webhook-probes",
        """
        update webhook_health
        set next_probe_at = statement_timestamp() + $2::double precision * interval '1 second'
        where endpoint = any ($1::uuid[]) and next_probe_at <= statement_timestamp()
        returning endpoint
        """)
}
