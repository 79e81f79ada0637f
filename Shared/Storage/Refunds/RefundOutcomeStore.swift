import Contracts
import Postgres
import Refunds

import struct Foundation.Date

/// What became of the decided requests of an app, and what another policy would have said about past ones.
package struct RefundOutcomeStore: Sendable {
    /// The requests of one rule and currency.
    package struct Outcome: Sendable, Equatable {
        /// Of the policy, its hold-out apart; `by hand`, or why nothing was decided by a rule.
        package var rule: String
        /// Nil for transactions without a price.
        package var currency: String?
        package var requests: Int64
        /// In milliunits.
        package var sum: Int64
        /// Apple took an answer.
        package var answered: Int64
        package var refundedInFull: Int64
        /// In part: prorated, or some of the seats or items.
        package var refundedProrated: Int64
        package var declined: Int64
        package var reversed: Int64
        package var open: Int64
        /// Seconds from the request to Apple's decision, of those that Apple decided.
        package var medianTime: Double?
    }

    private let connection: PostgresConnection

    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// Requests that were decided within a time, by rule and currency.
    package func outcomes(
        of bundleId: String, in environment: StoreEnvironment, within time: Range<Date>
    ) async throws -> [Outcome] {
        try await connection.execute(
            Self.outcomes, environment.rawValue, bundleId, time.lowerBound, time.upperBound
        ).map { row in
            Outcome(
                rule: try row.value("rule"), currency: try row.optional("currency"),
                requests: try row.value("requests"),
                sum: try row.value("sum"), answered: try row.value("answered"),
                refundedInFull: try row.value("full_refund"),
                refundedProrated: try row.value("prorated"), declined: try row.value("declined"),
                reversed: try row.value("reversed"), open: try row.value("open"), medianTime: try row.optional("median")
            )
        }
    }

    /// A past request, with what was said and what Apple decided.
    package struct Past: Sendable, Equatable {
        package var key: RefundKey
        package var requestedAt: Date
        /// When it was decided; where nothing was, when it arrived.
        package var knownAt: Date
        /// The decision; nil where there was none.
        package var answer: RefundRequestPages.Answer?
        /// `refunded`, `declined`, `reversed`; nil where Apple has not decided.
        package var outcome: String?
    }

    /// All requests about transactions whose newest one was made since a moment, in the order of the transactions.
    /// - Parameter transaction: the last one of the portion before; empty at the beginning.
    package func past(
        of bundleId: String, in environment: StoreEnvironment, since: Date, after transaction: String, limit: Int
    ) async throws -> [Past] {
        try await connection.execute(Self.past, environment.rawValue, bundleId, since, transaction, Int64(limit)).map {
            row in
            Past(
                key: try RefundKey(row), requestedAt: try row.value("first_requested_at"),
                knownAt: try row.value("known_at"),
                answer: try row.optional("decided_at", as: Date.self) == nil
                    ? nil : try RefundRequestPages.Answer(row),
                outcome: try row.optional("decided_as"))
        }
    }

    /// What a policy says about past requests, with what was known then. Stores and sends nothing.
    package func rehearse(_ policy: RefundPolicy, on past: [Past]) async throws -> [RefundDecision?] {
        var decisions = try await decide(policy, past, past.map(\.knownAt))
        // Those that would have waited for usage are decided when the wait is over, or the report had come.
        var waiting: [(place: Int, until: Date)] = []
        for (place, decision) in decisions.enumerated() {
            if case .wait(let until, _) = decision { waiting.append((place, until)) }
        }
        let later = try await decide(policy, waiting.map { past[$0.place] }, waiting.map(\.until))
        for (wait, decision) in zip(waiting, later) { decisions[wait.place] = decision }
        return decisions
    }

    private func decide(_ policy: RefundPolicy, _ past: [Past], _ moments: [Date]) async throws -> [RefundDecision?] {
        guard !past.isEmpty else { return [] }
        let rows = try await connection.pipeline([RefundSubjects.command(past.map(\.key), knownAt: moments)])
        return zip(try RefundSubjects.subjects(rows[0]), moments).map { subject, moment in
            subject.map { policy.decide($0, at: moment) }
        }
    }

    static let statements = [outcomes, past]

    private static let types = "('REFUND', 'REFUND_DECLINED', 'REFUND_REVERSED')"

    /// Of several decisions about one request, such as first withheld and then answered, the last counts.
    private static let outcomes = Statement(
        "refund-outcomes",
        unsafeSQL: """
            with decision as (
                select distinct on (answer.transaction_id, decided.notification_uuid)
                    coalesce(
                        -- What a rule changes is seen beside the requests that it would have answered.
                        answer.rule || case when answer.withheld_because = 'holdOut' then ' (hold-out)' else '' end,
                        case when answer.decided_by <> 'policy' then 'by hand' else answer.withheld_because end, 'none') as rule,
                    answer.sent_at, answer.requested_at, decided.notification_type, decided.signed_at,
                    -- A part of the price, of the seats, or of the items of Advanced Commerce, which have no type.
                    coalesce(
                        held.revocation_type = 'REFUND_PRORATED' or decided.subtype = 'SEATS'
                            or held.revocation_type is null and held.revocation_percentage < 100000, false) as is_partial,
                    held.currency, coalesce(held.price_milliunits, 0) as price,
                    decided.notification_type <> 'REFUND_DECLINED' and exists (
                        select
                        from notification later
                        where later.environment = answer.environment
                            and later.original_transaction_id = request.original_transaction_id
                            and later.transaction_id = answer.transaction_id
                            and later.notification_type = 'REFUND_REVERSED' and later.signed_at >= decided.signed_at
                    ) as is_reversed
                from refund_answer answer
                join refund_request request
                    on request.environment = answer.environment and request.transaction_id = answer.transaction_id
                left join transaction held
                    on held.environment = answer.environment and held.transaction_id = answer.transaction_id
                left join lateral (
                    select notification_uuid, notification_type, subtype, signed_at
                    from notification told
                    where told.environment = answer.environment
                        and told.original_transaction_id = request.original_transaction_id
                        and told.transaction_id = answer.transaction_id and told.notification_type in \(types)
                        and told.signed_at >= answer.requested_at
                    order by signed_at, notification_uuid
                    limit 1
                ) as decided on true
                where answer.environment = $1::text::store_environment and answer.bundle_id = $2::text
                    and answer.decided_at >= $3::timestamptz and answer.decided_at < $4::timestamptz
                order by answer.transaction_id, decided.notification_uuid, answer.decided_at desc, answer.id desc
            )
            select rule, currency, count(*) as requests, sum(price)::bigint as sum, count(sent_at) as answered,
                count(*) filter (where notification_type = 'REFUND' and not is_partial) as full_refund,
                count(*) filter (where notification_type = 'REFUND' and is_partial) as prorated,
                count(*) filter (where notification_type = 'REFUND_DECLINED') as declined,
                count(*) filter (where is_reversed) as reversed,
                count(*) filter (where notification_type is null) as open,
                percentile_cont(0.5) within group (order by extract(epoch from signed_at - requested_at)::float8) as median
            from decision
            group by rule, currency
            order by count(*) desc, rule, currency
            """)

    /// A request is all CONSUMPTION_REQUESTs of a transaction between two outcomes.
    private static let past = Statement(
        "refund-past",
        unsafeSQL: """
            select request.environment::text as environment, request.transaction_id, asked.first_requested_at,
                coalesce(answer.decided_at, asked.recorded_at) as known_at,
                case decided.notification_type when 'REFUND' then 'refunded' when 'REFUND_DECLINED' then 'declined'
                    when 'REFUND_REVERSED' then 'reversed' end as decided_as,
                answer.decided_at, answer.decided_by, answer.policy_version, answer.rule, answer.body, answer.adjustments,
                answer.withheld_because, answer.attempts, answer.sent_at, answer.failed_with
            from (
                select *
                from refund_request
                where environment = $1::text::store_environment and bundle_id = $2::text and requested_at >= $3::timestamptz
                    and transaction_id > $4::text
                order by transaction_id
                limit $5::bigint
            ) as request
            cross join lateral (
                select min(signed_at) as first_requested_at, min(recorded_at) as recorded_at, last_outcome
                from (
                    select told.signed_at, told.recorded_at, (
                            select max(earlier.signed_at)
                            from notification earlier
                            where earlier.environment = request.environment
                                and earlier.original_transaction_id = request.original_transaction_id
                                and earlier.transaction_id = request.transaction_id
                                and earlier.notification_type in \(types) and earlier.signed_at < told.signed_at
                        ) as last_outcome
                    from notification told
                    where told.environment = request.environment
                        and told.original_transaction_id = request.original_transaction_id
                        and told.transaction_id = request.transaction_id
                        and told.notification_type = 'CONSUMPTION_REQUEST'
                ) as told
                group by last_outcome
            ) as asked
            left join lateral (
                select notification_type, signed_at
                from notification told
                where told.environment = request.environment
                    and told.original_transaction_id = request.original_transaction_id
                    and told.transaction_id = request.transaction_id and told.notification_type in \(types)
                    and told.signed_at >= asked.first_requested_at
                order by signed_at, notification_uuid
                limit 1
            ) as decided on true
            left join lateral (
                select *
                from refund_answer given
                where given.environment = request.environment and given.transaction_id = request.transaction_id
                    and given.requested_at >= asked.first_requested_at
                    and given.requested_at < coalesce(decided.signed_at, 'infinity')
                order by given.decided_at desc, given.id desc
                limit 1
            ) as answer on true
            order by request.transaction_id, asked.first_requested_at
            """)
}
