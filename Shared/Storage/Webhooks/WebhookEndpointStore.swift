import Contracts
import Postgres
import WebhookDelivery

import struct Foundation.Date
import struct Foundation.UUID

/// The endpoints of webhooks and how their receivers answer. Operators change endpoints, each time with an entry of the audit log in
/// the same transaction; the service that sends only disables them and counts failures.
package struct WebhookEndpointStore: Sendable {
    /// An endpoint with its health.
    package struct Entry: Sendable, Equatable {
        package var endpoint: WebhookEndpoint
        package var health: EndpointHealth
        /// When it was read, by the clock of the database, which the health follows.
        package var readAt: Date

        /// The state as people read it: an active endpoint whose receiver fails is failing.
        package var shownState: String {
            endpoint.state == .active && health.isFailing ? "failing" : endpoint.state.rawValue
        }
    }

    /// What waits for an endpoint.
    package struct Waiting: Sendable, Equatable {
        /// Purchases with something to send; of an endpoint without order, events.
        package var count: Int64
        /// When the oldest of what waits was applied; nil where nothing waits.
        package var oldest: Date?
    }

    private let connection: PostgresConnection

    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// All endpoints, the oldest first.
    package func all() async throws -> [Entry] {
        try await connection.execute(Self.list).map { row in try Self.entry(row) }
    }

    /// The endpoint with an id; nil where there is none.
    package func find(_ id: UUID) async throws -> Entry? {
        try await connection.execute(Self.find, id).first.map { row in try Self.entry(row) }
    }

    /// Creates an endpoint; the service that sends tests it at once, where it is of changes.
    package func create(_ endpoint: WebhookEndpoint, audit: OperatorAction) async throws {
        _ = try await connection.pipeline([
            Command(
                Self.insert, endpoint.id, endpoint.environment.rawValue, endpoint.url, endpoint.filter.bundleIds,
                endpoint.filter.events, endpoint.filter.facts, endpoint.isOrdered, endpoint.createdAt,
                endpoint.kind.rawValue, endpoint.state.rawValue),
            Command(
                Self.insertHealth, endpoint.id, endpoint.state == .testing ? endpoint.createdAt : nil),
            OperatorActionStore.command(recording: [audit]),
        ])
    }

    /// Begins a new generation of the secret. For a day the one before signs too.
    /// - Parameter generation: the one that is replaced; nil is any.
    /// - Returns: the new generation; nil where there is no such endpoint, or it has another secret.
    package func rotate(
        _ id: UUID, from generation: Int32? = nil, at now: Date, audit: OperatorAction
    ) async throws -> Int32? {
        try await change(Command(Self.rotate, id, now, generation), audit).map { row in try row.value("generation") }
    }

    /// Stops sending; changes wait.
    /// - Returns: whether there is such an endpoint.
    package func pause(_ id: UUID, audit: OperatorAction) async throws -> Bool {
        try await change(Command(Self.pause, id), audit) != nil
    }

    /// Sends again: what waits, or what is applied from now on. The receiver is tested first.
    /// - Parameter fromNow: gives up what waits.
    /// - Returns: whether there is such an endpoint.
    package func resume(_ id: UUID, fromNow: Bool, at now: Date, audit: OperatorAction) async throws -> Bool {
        try await repeating {
            try await connection.transaction { transaction in
                guard try transaction.execute(Self.resume, id, now, fromNow).affected == 1 else { return false }
                var commands = [Command(Self.resumeHealth, id, now)]
                commands +=
                    fromNow
                    ? [Command(Self.emptyQueue, id), Command(Self.giveUpWaiting, id, now)]
                    : [Command(Self.dueAtOnce, [id])]
                _ = try transaction.pipeline(commands + [OperatorActionStore.command(recording: [audit])])
                return true
            }
        }
    }

    /// Removes an endpoint and what waits for it; the log of its deliveries ends with their retention.
    /// - Returns: whether there was such an endpoint.
    package func remove(_ id: UUID, audit: OperatorAction) async throws -> Bool {
        try await repeating {
            try await connection.transaction { transaction in
                // First, so that nothing is enqueued behind the deletion of the queue.
                guard try transaction.execute(Self.remove, id).affected == 1 else { return false }
                _ = try transaction.pipeline([
                    Command(Self.emptyQueue, id), OperatorActionStore.command(recording: [audit]),
                ])
                return true
            }
        }
    }

    /// Asks for a `webhook.test`.
    /// - Returns: whether there is such an endpoint.
    package func requestTest(_ id: UUID, at now: Date, audit: OperatorAction) async throws -> Bool {
        try await change(Command(Self.requestTest, id, now), audit) != nil
    }

    /// What waits for each endpoint.
    package func waiting() async throws -> [UUID: Waiting] {
        Dictionary(
            uniqueKeysWithValues: try await connection.execute(Self.waiting).map { row in
                (
                    try row.value("endpoint"),
                    Waiting(count: try row.value("count"), oldest: try row.optional("oldest"))
                )
            })
    }

    /// How many deliveries of each endpoint succeeded after a time, at most ``counted``.
    package func delivered(since: Date) async throws -> [UUID: Int64] {
        Dictionary(
            uniqueKeysWithValues: try await connection.execute(Self.delivered, since, Int64(Self.counted)).map { row in
                (try row.value("endpoint"), try row.value("count"))
            })
    }

    /// How many deliveries of an endpoint are counted: more would take too long for a page.
    package static let counted = 10_000

    /// Runs a change of one row and its entry of the audit log in one transaction; neither where there is no such row.
    private func change(_ command: Command, _ audit: OperatorAction) async throws -> Row? {
        try await repeating {
            try await connection.transaction { transaction in
                guard let row = try transaction.pipeline([command])[0].first else { return nil }
                _ = try transaction.pipeline([OperatorActionStore.command(recording: [audit])])
                return row
            }
        }
    }

    static func entry(_ row: Row) throws -> Entry {
        var endpoint = WebhookEndpoint(
            id: try row.value("id"), environment: try SubscriptionStore.environment(row), url: try row.value("url"),
            filter: WebhookFilter(
                bundleIds: try row.value("bundle_ids"), events: try row.value("events"), facts: try row.value("facts")),
            isOrdered: try row.value("is_ordered"),
            kind: WebhookEndpoint.Kind(rawValue: try row.value("kind")) ?? .changes,
            state: WebhookEndpoint.State(rawValue: try row.value("state")) ?? .paused,
            createdAt: try row.value("created_at"))
        endpoint.generation = try row.value("generation")
        endpoint.rotatedAt = try row.optional("rotated_at")
        endpoint.startsAt = try row.value("starts_at")
        return Entry(endpoint: endpoint, health: try health(row), readAt: try row.value("read_at"))
    }

    static func health(_ row: Row) throws -> EndpointHealth {
        var health = EndpointHealth(
            nextProbeAt: try row.value("next_probe_at"), testRequestedAt: try row.optional("test_requested_at"))
        health.failures = try row.value("failures")
        health.failingSince = try row.optional("failing_since")
        health.pausedUntil = try row.optional("paused_until")
        health.disabledAt = try row.optional("disabled_at")
        health.disabledBecause = try row.optional("disabled_because").flatMap(EndpointHealth.DisabledReason.init)
        health.lastFault = try row.optional("last_fault")
        if let about = try row.optional("notice_about", as: UUID.self),
            let at = try row.optional("noticed_at", as: Date.self)
        {
            health.notice = EndpointHealth.Notice(about: about, at: at)
        }
        return health
    }

    static let statements = [
        list, find, insert, insertHealth, rotate, pause, resume, resumeHealth, dueAtOnce, emptyQueue, giveUpWaiting,
        remove, requestTest, waiting, delivered,
    ]

    private static let columns = """
        id, kind, environment::text as environment, url, bundle_ids, events, facts, is_ordered, state, generation, rotated_at,
            created_at, starts_at, failures, failing_since, next_probe_at, paused_until, test_requested_at, disabled_at,
            disabled_because, last_fault, notice_about, noticed_at, statement_timestamp() as read_at
        """

    private static let list = Statement(
        "webhook-endpoints",
        unsafeSQL: """
            select \(columns)
            from webhook_endpoint join webhook_health on webhook_health.endpoint = webhook_endpoint.id
            order by created_at, id
            """)

    private static let find = Statement(
        "webhook-endpoint",
        unsafeSQL: """
            select \(columns)
            from webhook_endpoint join webhook_health on webhook_health.endpoint = webhook_endpoint.id
            where id = $1::uuid
            """)

    private static let insert = Statement(
        "webhook-endpoint-insert",
        """
        insert into webhook_endpoint (
            id, environment, url, bundle_ids, events, facts, is_ordered, kind, state, created_at, starts_at)
        values (
            $1::uuid, $2::text::store_environment, $3::text, $4::text[], $5::text[], $6::text[], $7::boolean, $9::text,
            $10::text, $8::timestamptz, $8::timestamptz)
        """)

    private static let insertHealth = Statement(
        "webhook-health-insert",
        """
        insert into webhook_health (endpoint, next_probe_at, test_requested_at)
        values ($1::uuid, statement_timestamp(), $2::timestamptz)
        """)

    private static let rotate = Statement(
        "webhook-endpoint-rotate",
        """
        update webhook_endpoint
        set generation = generation + 1, rotated_at = $2::timestamptz
        where id = $1::uuid and generation = coalesce($3::integer, generation)
        returning generation
        """)

    private static let pause = Statement(
        "webhook-endpoint-pause", "update webhook_endpoint set state = 'paused' where id = $1::uuid returning id")

    private static let resume = Statement(
        "webhook-endpoint-resume",
        """
        update webhook_endpoint
        set state = case when kind = 'apple' then 'active' else 'testing' end,
            starts_at = case when $3::boolean then $2::timestamptz else starts_at end
        where id = $1::uuid
        """)

    private static let resumeHealth = Statement(
        "webhook-health-resume",
        """
        update webhook_health
        set failures = 0, failing_since = null, paused_until = null, disabled_at = null, disabled_because = null,
            next_probe_at = statement_timestamp(),
            test_requested_at = case when webhook_endpoint.kind = 'changes' then $2::timestamptz end
        from webhook_endpoint
        where endpoint = $1::uuid and webhook_endpoint.id = endpoint
        """)

    /// What a sender works on stays under its lease.
    static let dueAtOnce = Statement(
        "webhook-queue-due",
        """
        update webhook_queue
        set next_attempt_at = statement_timestamp()
        where endpoint = any ($1::uuid[]) and next_attempt_at > statement_timestamp() and lease is null
        """)

    private static let emptyQueue = Statement(
        "webhook-queue-empty", "delete from webhook_queue where endpoint = $1::uuid")

    private static let giveUpWaiting = Statement(
        "webhook-deliveries-give-up",
        """
        update webhook_delivery
        set state = 'given-up', finished_at = $2::timestamptz
        where endpoint = $1::uuid and state = 'waiting'
        """)

    private static let remove = Statement(
        "webhook-endpoint-remove", "delete from webhook_endpoint where id = $1::uuid")

    private static let requestTest = Statement(
        "webhook-test-request",
        """
        update webhook_health
        set test_requested_at = $2::timestamptz, next_probe_at = least(next_probe_at, statement_timestamp())
        where endpoint = $1::uuid
        returning endpoint
        """)

    private static let waiting = Statement(
        "webhook-waiting",
        """
        select endpoint, count(*) as count, (
                select min(coalesce(timeline.applied_at, notification.recorded_at))
                from (
                    select timeline_id, notification_uuid
                    from webhook_delivery
                    where webhook_delivery.endpoint = webhook_queue.endpoint and state = 'waiting'
                        and day between min(webhook_queue.since) and max(webhook_queue.until)
                    order by timeline_id
                    limit 1
                ) as first
                left join timeline on timeline.id = first.timeline_id
                left join notification on notification.notification_uuid = first.notification_uuid
            ) as oldest
        from webhook_queue
        group by endpoint
        """)

    private static let delivered = Statement(
        "webhook-delivered",
        """
        select webhook_endpoint.id as endpoint, (
                select count(*)
                from (
                    select
                    from webhook_delivery
                    where webhook_delivery.endpoint = webhook_endpoint.id and state = 'delivered'
                        and finished_at > $1::timestamptz
                    limit $2::bigint
                ) as finished
            ) as count
        from webhook_endpoint
        """)
}
