import Postgres

extension WindowClaimStore {
    static let statements = [claim, advance, list, divide, restart, release, fail]

    /// A time that is further ahead than any lease or pause is from before the database's clock was set back.
    static let claim = Statement(
        "recovery-window-claim",
        """
        with waiting as (
            select id
            from recovery_window
            where state = 'open' and subwindows = 0
                and (held_until is null or held_until <= statement_timestamp()
                    or held_until > statement_timestamp() + interval '2 hours' + $2::bigint * interval '1 second')
                and (not_before is null or not_before <= statement_timestamp()
                    or not_before > statement_timestamp() + interval '2 hours')
                and (environment::text, bundle_id) in (select * from unnest($3::text[], $4::text[]))
                and ($6::text is null or reason = $6::text)
            order by priority desc, created_at, from_at
            limit $5::bigint
            for update skip locked
        )
        update recovery_window
        set holder = $1::uuid, held_until = statement_timestamp() + $2::bigint * interval '1 second',
            attempts = attempts + 1, next_page = next_page + 1
        from waiting
        where recovery_window.id = waiting.id
        returning recovery_window.id, environment::text as environment, bundle_id, from_at, to_at, notification_type,
            subtype, only_failures, reason, priority, part_of, start_at, page_token, next_page, reached_at, failures,
            restarts
        """)

    static let advance = Statement(
        "recovery-window-advance",
        """
        update recovery_window
        set state = case when $4::text is null then 'fetched' else 'open' end,
            page_token = $4::text, next_page = next_page + 1, pages = pages + 1, fetched = fetched + $5::bigint,
            reached_at = coalesce($6::timestamptz, reached_at),
            holder = case when $4::text is null then null else holder end,
            held_until = case
                when $4::text is null then null else statement_timestamp() + $7::bigint * interval '1 second' end,
            fetched_at = case when $4::text is null then $8::timestamptz end,
            failures = 0, last_error = null
        where id = $1::uuid and holder = $2::uuid and next_page = $3::bigint and state = 'open'
        """)

    /// Runs after `advance` in the same transaction, if that changed a row.
    static let list = Statement(
        "recovery-page-list",
        """
        insert into recovery_page (window_id, page, part, is_listed, is_seen)
        select id, $3::bigint, part, true, false
        from recovery_window, generate_series(0, $4::bigint - 1) as part
        where id = $1::uuid and next_page = $3::bigint + 1
            and (holder = $2::uuid or state = 'fetched')
        on conflict (window_id, page, part) do update set is_listed = true
        """)

    static let divide = Statement(
        "recovery-window-divide",
        """
        update recovery_window
        set subwindows = $3::integer, holder = null, held_until = null
        where id = $1::uuid and holder = $2::uuid and state = 'open' and subwindows = 0
        """)

    static let restart = Statement(
        "recovery-window-restart",
        """
        update recovery_window
        set start_at = $3::timestamptz, page_token = null, restarts = restarts + 1, last_error = $4::text, holder = null,
            held_until = null, not_before = statement_timestamp() + $5::bigint * interval '1 second',
            compared_from = case when $6::boolean then $3::timestamptz else compared_from end
        where id = $1::uuid and holder = $2::uuid and state = 'open'
        """)

    static let release = Statement(
        "recovery-window-release",
        """
        update recovery_window
        set holder = null, held_until = null,
            not_before = statement_timestamp() + $3::bigint * interval '1 second',
            failures = failures + ($4::text is not null)::integer, last_error = coalesce($4::text, last_error)
        where id = $1::uuid and holder = $2::uuid and state = 'open'
        """)

    static let fail = Statement(
        "recovery-window-fail",
        """
        with failed as (
            update recovery_window
            set state = 'failed', closed_at = $4::timestamptz, last_error = $3::text, holder = null, held_until = null
            where id = $1::uuid and holder = $2::uuid and state = 'open'
            returning coalesce(part_of, id) as whole, environment, bundle_id, reason, from_at
        )
        update coverage
        set planned_until = least(planned_until, greatest(complete_until, failed.from_at))
        from failed
        where failed.reason = 'failures' and coverage.kind = 'failures' and coverage.environment = failed.environment
            and coverage.bundle_id = failed.bundle_id
        """)
}
