import Postgres

extension RecoveryWindowStore {
    static let statements = [open, find, asked, seenThroughout, close, reopen, refuse, delete, see, count]

    static let open = Statement(
        "recovery-window-open",
        """
        insert into recovery_window (
            id, environment, bundle_id, from_at, to_at, start_at, notification_type, subtype, only_failures, reason,
            priority, created_at, part_of)
        select id, environment::store_environment, bundle_id, from_at, to_at, from_at, notification_type, subtype,
            only_failures, reason, priority, $11::timestamptz, $12::uuid
        from unnest(
            $1::uuid[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::text[], $7::text[],
            $8::boolean[], $9::text[], $10::integer[]
        ) as given (
            id, environment, bundle_id, from_at, to_at, notification_type, subtype, only_failures, reason, priority)
        order by id
        on conflict (id) do nothing
        """)

    static let find = Statement(
        "recovery-window-find",
        """
        select id, environment::text as environment, bundle_id, from_at, to_at, start_at, notification_type, subtype,
            only_failures, reason, priority, part_of, subwindows, state, pages, listed, present, missing, recovered, rejected, unreadable,
            attempts, last_error, compared_from, created_at, fetched_at, closed_at
        from recovery_window
        where ($1::uuid[] is null or id = any ($1::uuid[]))
            and ($2::text[] is null or state = any ($2::text[]))
            and ($3::text[] is null or reason = any ($3::text[]))
            and ($4::text is null or environment = $4::text::store_environment)
            and ($5::text is null or bundle_id = $5::text)
            and ($6::uuid is null or part_of = $6::uuid)
            and (part_of is null or not $7::boolean)
        order by created_at desc, from_at desc, id
        limit $8::bigint
        """)

    static let asked = Statement(
        "recovery-window-asked",
        """
        select state, created_at
        from recovery_window
        where environment = $1::text::store_environment and bundle_id = $2::text and reason = 'failures'
            and part_of is null
        order by created_at desc
        limit $3::bigint
        """)

    static let seenThroughout = Statement(
        "recovery-window-seen-throughout",
        """
        select id
        from recovery_window
        where state = 'fetched'
            and not exists (
                select from recovery_page
                where recovery_page.window_id = recovery_window.id and is_listed and not is_seen)
        order by priority desc, fetched_at
        limit $1::bigint
        """)

    /// Deletes the pages of closed windows.
    static let close = Statement(
        "recovery-window-close",
        """
        with closed as (
            update recovery_window
            set state = 'closed', closed_at = $2::timestamptz, last_error = null
            where id = any ($1::uuid[]) and state = 'fetched'
                and not exists (
                    select from recovery_page
                    where recovery_page.window_id = recovery_window.id and is_listed and not is_seen)
            returning id
        ), swept as (
            delete from recovery_page using closed where recovery_page.window_id = closed.id
        )
        select id from closed
        """)

    /// Deletes pages that recovery never saw: their notifications are listed again.
    static let reopen = Statement(
        "recovery-window-reopen",
        """
        with stuck as (
            update recovery_window
            set state = 'open', page_token = null, start_at = from_at, fetched_at = null, restarts = restarts + 1,
                last_error = 'fetched, and not settled for hours; fetched again'
            where state = 'fetched' and subwindows = 0 and fetched_at < $1::timestamptz
            returning id
        ), gone as (
            delete from recovery_page using stuck where window_id = stuck.id and not is_seen
        )
        select id from stuck
        """)

    static let refuse = Statement(
        "recovery-window-refuse",
        """
        update recovery_window
        set state = 'failed', closed_at = $5::timestamptz, last_error = $4::text
        where state = 'open' and subwindows = 0 and attempts = 0 and created_at < $1::timestamptz
            and (environment::text, bundle_id) not in (select * from unnest($2::text[], $3::text[]))
            and not exists (
                select from coverage
                where coverage.environment = recovery_window.environment
                    and coverage.bundle_id = recovery_window.bundle_id)
        returning id
        """)

    static let delete = Statement(
        "recovery-window-delete",
        """
        delete from recovery_window
        where id = any (array(
            select id
            from recovery_window
            where closed_at < $1::timestamptz and state in ('closed', 'failed') and part_of is null
            order by closed_at
            limit $2::bigint))
        """)

    static let see = Statement(
        "recovery-page-see",
        """
        insert into recovery_page (window_id, page, part, is_listed, is_seen)
        select id, $2::bigint, $3::bigint, false, true
        from recovery_window
        where id = $1::uuid and state in ('open', 'fetched')
        on conflict (window_id, page, part) do update set is_seen = true
        """)

    static let count = Statement(
        "recovery-window-count",
        """
        update recovery_window
        set listed = recovery_window.listed + given.listed, present = recovery_window.present + given.present,
            missing = recovery_window.missing + given.missing, recovered = recovery_window.recovered + given.recovered,
            rejected = recovery_window.rejected + given.rejected,
            unreadable = recovery_window.unreadable + given.unreadable
        from unnest(
            $1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[]
        ) as given (id, listed, present, missing, recovered, rejected, unreadable)
        where recovery_window.id = given.id
        """)
}
