import Postgres

extension RefundDecisionStore {
    static let statements = [
        due, lock, lockWaiting, read, insert, planning, settling, sent, failed, attempted, firstPolicy,
        RefundSubjects.statement,
    ]

    static let due = Statement(
        "refund-due",
        """
        select environment::text as environment, transaction_id
        from refund_request
        where next_at <= $1::timestamptz
        order by next_at
        limit $2::bigint
        """)

    /// The newest decision of the locked request.
    private static let latest = """
        left join lateral (
            select id, decided_at, withheld_because, sent_at, failed_with, body, api_version, attempts
            from refund_answer
            where refund_answer.environment = request.environment
                and refund_answer.transaction_id = request.transaction_id
            order by decided_at desc, id desc
            limit 1
        ) as latest on true
        """

    static let read = Statement(
        "refund-read",
        unsafeSQL: """
            select request.bundle_id, request.requested_at, request.outcome_at, latest.*
            from refund_request request
            \(latest)
            where request.environment = $1::text::store_environment and request.transaction_id = $2::text
            """)

    /// Only where it is due, and no other process has it.
    static let lock = Statement(
        "refund-lock",
        """
        select 1
        from refund_request
        where environment = $1::text::store_environment and transaction_id = $2::text
            and next_at <= $3::timestamptz
        for update skip locked
        """)

    static let lockWaiting = Statement(
        "refund-lock-waiting",
        """
        select 1
        from refund_request
        where environment = $1::text::store_environment and transaction_id = $2::text
        for update
        """)

    static let insert = Statement(
        "refund-answer-insert",
        """
        insert into refund_answer (
            environment, transaction_id, bundle_id, requested_at, decided_at, policy_version, rule, body, api_version,
            adjustments, withheld_because, decided_by, attempts)
        values (
            $1::text::store_environment, $2::text, $3::text, $4::timestamptz, $5::timestamptz, $6::bigint, $7::text,
            $8::text, $9::smallint, $10::text[], $11::text, $12::text, $13::bigint)
        returning id
        """)

    /// Null for a request that Apple decided meanwhile.
    static let planning = Statement(
        "refund-plan",
        """
        update refund_request
        set next_at = case when requested_at > coalesce(outcome_at, '-infinity') then $3::timestamptz end
        where environment = $1::text::store_environment and transaction_id = $2::text
        """)

    /// Nothing is left to do about the request, unless Apple decided and asked again while the answer was under way.
    static let settling = Statement(
        "refund-settle",
        """
        update refund_request
        set next_at = case
            when requested_at > outcome_at
                and outcome_at > (select decided_at from refund_answer where id = $3::bigint)
            then $4::timestamptz
        end
        where environment = $1::text::store_environment and transaction_id = $2::text
        """)

    /// Apple's 202 counts also where the time was over by this clock.
    static let sent = Statement(
        "refund-answer-sent",
        "update refund_answer set sent_at = $2::timestamptz, failed_at = null, failed_with = null where id = $1::bigint"
    )

    /// A body that Apple took stays answered.
    static let failed = Statement(
        "refund-answer-failed",
        """
        update refund_answer
        set failed_at = $2::timestamptz, failed_with = $3::text
        where id = $1::bigint and sent_at is null
        """)

    static let attempted = Statement(
        "refund-answer-attempted",
        """
        update refund_answer
        set attempts = attempts + 1, failed_at = null, failed_with = null
        where id = $1::bigint
        """)

    static let firstPolicy = Statement(
        "refund-policy-first",
        """
        select created_at
        from refund_policy
        where environment = $1::text::store_environment and bundle_id = $2::text and version = 1
        """)
}
