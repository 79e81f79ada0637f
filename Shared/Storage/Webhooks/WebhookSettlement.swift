import Postgres
import WebhookDelivery

import struct Foundation.Date
import struct Foundation.UUID

/// A request that has ended, with what it was for.
package struct WebhookAttempt: Sendable {
    /// What was sent.
    package enum Subject: Sendable, Equatable {
        case delivery(WebhookQueueStore.Claim)
        /// `webhook.test`, as it was asked for; repeated until it succeeds where the endpoint waits for its first success.
        case test(endpoint: UUID, requestedAt: Date, isRepeated: Bool)
        /// `webhook.disabled` about another endpoint; repeated until it is answered with 2xx, for five days.
        case notice(endpoint: UUID, EndpointHealth.Notice)
    }

    package var subject: Subject
    package var outcome: AttemptOutcome
    /// When it was sent.
    package var at: Date
    package var milliseconds: Int32
    /// The beginning of the answer, without secrets; nil where there was none.
    package var answer: String?

    package init(_ subject: Subject, _ outcome: AttemptOutcome, at: Date, milliseconds: Int32 = 0) {
        self.subject = subject
        self.outcome = outcome
        self.at = at
        self.milliseconds = milliseconds
    }

    package var endpoint: UUID {
        switch subject {
        case .delivery(let claim): claim.place.endpoint
        case .test(let endpoint, _, _): endpoint
        case .notice(let endpoint, _): endpoint
        }
    }
}

/// Stores what requests came to: deliveries, attempts, the next attempt, and the health of the endpoints, in one transaction. A sender
/// whose lease has passed to another one leaves the delivery to it; its attempt is logged, and the receiver's answer counts.
package struct WebhookSettlement: Sendable {
    /// What changed for the sender.
    package struct Report: Sendable, Equatable {
        /// The health of the endpoints as it is stored now.
        package var health: [UUID: EndpointHealth] = [:]
        /// Endpoints that got the first answer 2xx.
        package var activated: [UUID] = []
        package var disabled: [UUID: EndpointHealth.DisabledReason] = [:]
        package var recovered: [UUID] = []
        /// Deliveries that were given up, for each endpoint.
        package var givenUp: [UUID: Int] = [:]
    }

    private let connection: PostgresConnection

    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// - Parameters:
    ///   - empty: places of the queue that were leased and where nothing waits, or nothing was sent. The next probe of an endpoint of which
    ///     one was to be the probe is due at once.
    ///   - now: for the log. The health and the next attempts follow the clock of the database.
    ///   - generator: of the random part of delays.
    package func settle(
        _ attempts: [WebhookAttempt], empty: [WebhookQueueStore.Claim] = [], at now: Date,
        using generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) async throws -> Report {
        guard !attempts.isEmpty || !empty.isEmpty else { return Report() }
        return try await repeating {
            try await connection.transaction { transaction in
                try Self.settle(attempts, empty, now, generator, transaction)
            }
        }
    }

    private static func settle(
        _ attempts: [WebhookAttempt], _ empty: [WebhookQueueStore.Claim], _ now: Date,
        _ generator: any RandomNumberGenerator, _ transaction: PostgresTransaction
    ) throws -> Report {
        let claims = attempts.compactMap(\.claim) + empty
        let unused = empty.filter(\.isProbe)
        let hasFailures = attempts.contains { $0.outcome.fault != nil || $0.claim == nil }
        // The queue's rows first, in the order in which everyone locks them; what is seen behind the locks is final.
        let rows = try transaction.pipeline([
            Command(withoutFlush),
            Command(
                lock, claims.map(\.place.endpoint), claims.map(\.place.originalTransactionId), claims.map(\.place.lane),
                claims.map(\.lease)),
            Command(health, Array(Set(attempts.map(\.endpoint) + unused.map(\.place.endpoint))), hasFailures),
        ])
        // Where no health is read, nothing depends on it.
        let moment = try rows[2].first?.value("moment", as: Date.self) ?? now
        var plan = SettlementPlan(at: moment, using: generator)
        for row in rows[1] { plan.hold(claims[Int(try row.value(at: 0, as: Int64.self)) - 1]) }
        for row in rows[2] { plan.health[try row.value("endpoint")] = try WebhookEndpointStore.health(row) }
        for claim in unused { plan.health[claim.place.endpoint]?.nextProbeAt = moment }
        for attempt in attempts { plan.add(attempt) }
        for claim in empty { plan.release(claim) }
        try transaction.commit(after: plan.commands(at: now))
        return plan.report
    }

    static let statements = [
        lock, health, writeHealth, activate, disable, notify, notifyNext, finish, insertAttempts, release, remove,
    ]

    /// The next lease, which waits until it is on disk, takes this with it: no later delivery of a purchase is sent before. Where
    /// Postgres crashes earlier, the request is repeated when its lease has ended.
    private static let withoutFlush = Statement(unsafeSQL: "set local synchronous_commit = off")

    /// Returns which of the places are held, by their numbers; those whose lease has passed to another sender are left alone. Leases are
    /// compared in a way that no index serves: all places of a batch share a few, and are found by their keys.
    private static let lock = Statement(
        "webhook-settle-lock",
        """
        select given.number
        from webhook_queue
        join unnest($1::uuid[], $2::text[], $3::bigint[], $4::uuid[]) with ordinality
            as given (endpoint, original_transaction_id, lane, lease, number)
            using (endpoint, original_transaction_id, lane)
        where webhook_queue.lease is not distinct from given.lease
        order by webhook_queue.endpoint, webhook_queue.original_transaction_id, webhook_queue.lane
        for update of webhook_queue
        """)

    /// Of endpoints that answer as they should nothing is read or written.
    private static let health = Statement(
        "webhook-settle-health",
        """
        select *, statement_timestamp() as moment
        from webhook_health
        where endpoint = any ($1::uuid[]) and ($2::boolean or failures > 0 or paused_until is not null)
        order by endpoint
        for update
        """)

    static let writeHealth = Statement(
        "webhook-health-write",
        """
        update webhook_health
        set failures = given.failures, failing_since = given.failing_since, next_probe_at = given.next_probe_at,
            paused_until = given.paused_until, test_requested_at = given.test_requested_at,
            disabled_at = given.disabled_at, disabled_because = given.disabled_because, last_fault = given.last_fault,
            notice_about = given.notice_about, noticed_at = given.noticed_at
        from unnest(
            $1::uuid[], $2::integer[], $3::timestamptz[], $4::timestamptz[], $5::timestamptz[], $6::timestamptz[],
            $7::timestamptz[], $8::text[], $9::text[], $10::uuid[], $11::timestamptz[])
            as given (
                endpoint, failures, failing_since, next_probe_at, paused_until, test_requested_at, disabled_at,
                disabled_because, last_fault, notice_about, noticed_at)
        where webhook_health.endpoint = given.endpoint
        """)

    static let activate = Statement(
        "webhook-activate",
        "update webhook_endpoint set state = 'active' where id = any ($1::uuid[]) and state = 'testing'")

    static let disable = Statement(
        "webhook-disable",
        """
        update webhook_endpoint
        set state = 'disabled'
        where id = any ($1::uuid[]) and state in ('testing', 'active')
        """)

    /// Tells the active endpoints of the environment that another one was disabled. One that is yet to be told of another is told of
    /// this one next; its row is waited for, because a settlement that has just told it may not see this one disabled.
    static let notify = Statement(
        "webhook-notify",
        """
        update webhook_health
        set notice_about = coalesce(webhook_health.notice_about, disabled.id),
            noticed_at = case
                when webhook_health.notice_about is null then $2::timestamptz
                else webhook_health.noticed_at
            end
        from (
            select distinct on (environment) environment, id
            from webhook_endpoint
            where id = any ($1::uuid[])
            order by environment, id
        ) as disabled
        join webhook_endpoint other on other.environment = disabled.environment and other.state = 'active'
            and other.kind = 'changes'
        where other.id = webhook_health.endpoint
        """)

    /// Of endpoints that were told of one: the one that was disabled after it.
    static let notifyNext = Statement(
        "webhook-notify-next",
        """
        update webhook_health
        set notice_about = next.id, noticed_at = next.disabled_at
        from unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) as told (endpoint, about, at)
        join webhook_endpoint own on own.id = told.endpoint and own.state = 'active'
        cross join lateral (
            select other.id, health.disabled_at
            from webhook_endpoint other
            join webhook_health health on health.endpoint = other.id
            where other.environment = own.environment and other.state = 'disabled'
                and (health.disabled_at, other.id) > (told.at, told.about)
            order by health.disabled_at, other.id
            limit 1
        ) as next
        where webhook_health.endpoint = told.endpoint
        """)

    /// What was delivered before stays delivered.
    static let finish = Statement(
        "webhook-finish",
        """
        update webhook_delivery
        set state = given.state, attempts = given.attempts, status = given.status, milliseconds = given.milliseconds,
            first_attempt_at = coalesce(webhook_delivery.first_attempt_at, given.attempted_at),
            finished_at = case when given.state <> 'waiting' then $10::timestamptz end
        from unnest(
            $1::uuid[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::integer[], $7::smallint[],
            $8::integer[], $9::timestamptz[])
            as given (endpoint, timeline_id, replay, day, state, attempts, status, milliseconds, attempted_at)
        where webhook_delivery.endpoint = given.endpoint and webhook_delivery.timeline_id = given.timeline_id
            and webhook_delivery.replay = given.replay and webhook_delivery.day = given.day::date
            and webhook_delivery.state = 'waiting'
        """)

    static let insertAttempts = Statement(
        "webhook-attempts-insert",
        """
        insert into webhook_attempt (
            endpoint, timeline_id, replay, attempted_at, day, milliseconds, status, fault, answer)
        select endpoint, timeline_id, replay, attempted_at, (attempted_at at time zone 'UTC')::date, milliseconds,
            status, fault, answer
        from unnest(
            $1::uuid[], $2::bigint[], $3::bigint[], $4::timestamptz[], $5::integer[], $6::smallint[], $7::text[],
            $8::text[])
            as given (endpoint, timeline_id, replay, attempted_at, milliseconds, status, fault, answer)
        """)

    /// Ends leases; the next attempt is due after seconds.
    static let release = Statement(
        "webhook-release",
        """
        update webhook_queue
        set lease = null, next_attempt_at = statement_timestamp() + given.delay * interval '1 second'
        from unnest($1::uuid[], $2::text[], $3::bigint[], $4::uuid[], $5::double precision[])
            as given (endpoint, original_transaction_id, lane, lease, delay)
        where webhook_queue.endpoint = given.endpoint
            and webhook_queue.original_transaction_id = given.original_transaction_id
            and webhook_queue.lane = given.lane and webhook_queue.lease is not distinct from given.lease
        """)

    /// Removes places where nothing waits any more. Their rows are locked, so nothing can be enqueued there meanwhile.
    static let remove = Statement(
        "webhook-queue-remove",
        """
        delete from webhook_queue
        using unnest($1::uuid[], $2::text[], $3::bigint[], $4::uuid[])
            as given (endpoint, original_transaction_id, lane, lease)
        where webhook_queue.endpoint = given.endpoint
            and webhook_queue.original_transaction_id = given.original_transaction_id
            and webhook_queue.lane = given.lane and webhook_queue.lease is not distinct from given.lease
            and not exists (
                select
                from webhook_delivery
                where webhook_delivery.endpoint = webhook_queue.endpoint
                    and webhook_delivery.original_transaction_id = webhook_queue.original_transaction_id
                    and webhook_delivery.state = 'waiting'
                    and webhook_delivery.day between webhook_queue.since and webhook_queue.until
                    and (webhook_queue.lane = 0 or webhook_delivery.timeline_id = webhook_queue.lane))
        """)
}

extension WebhookAttempt {
    /// Nil of a test or a notice.
    var claim: WebhookQueueStore.Claim? {
        guard case .delivery(let claim) = subject else { return nil }
        return claim
    }
}
