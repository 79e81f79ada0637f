import Postgres

extension CoverageStore {
    static let statements = [
        begin, firstRecorded, list, days, daysToRepeat, move, planDays, giveUp, settleWhole, settleDays, settleProven,
        figures, states,
    ]

    static let begin = Statement(
        "coverage-begin",
        """
        insert into coverage (environment, bundle_id, kind, begins_at, planned_until, complete_until)
        select $1::text::store_environment, $2::text, kind, begins_at, begins_at, begins_at
        from unnest($3::text[], $4::timestamptz[]) as given (kind, begins_at)
        order by kind
        on conflict do nothing
        """)

    /// Reads the index on time, which is fast where the app has notifications.
    static let firstRecorded = Statement(
        "coverage-first-recorded",
        """
        select recorded_at
        from notification
        where environment = $1::text::store_environment and bundle_id = $2::text
        order by recorded_at
        limit 1
        """)

    static let list = Statement(
        "coverage-list",
        """
        select environment::text as environment, bundle_id, kind, begins_at, planned_until, complete_until
        from coverage
        order by bundle_id, environment, kind
        """)

    static let days = Statement(
        "coverage-days",
        """
        select environment::text as environment, bundle_id, day::timestamp at time zone 'UTC' as day, listed, missing,
            recovered, rejected, unreadable, window_id, completed_at, given_up
        from coverage_day
        where day >= ($1::timestamptz at time zone 'UTC')::date and day < ($2::timestamptz at time zone 'UTC')
            and ($3::text is null or environment = $3::text::store_environment)
            and ($4::text is null or bundle_id = $4::text)
        order by coverage_day.day, bundle_id, environment
        """)

    static let daysToRepeat = Statement(
        "coverage-days-to-repeat",
        """
        select environment::text as environment, bundle_id, day::timestamp at time zone 'UTC' as day, listed, missing,
            recovered, rejected, unreadable, window_id, completed_at, given_up
        from coverage_day
        where completed_at is null and given_up is null and planned_at < $1::timestamptz
            and not exists (
                select from recovery_window
                where recovery_window.id = coverage_day.window_id and state in ('open', 'fetched'))
        order by coverage_day.day, bundle_id, environment
        """)

    static let move = Statement(
        "coverage-move",
        """
        update coverage
        set planned_until = $5::timestamptz
        where environment = $1::text::store_environment and bundle_id = $2::text and kind = $3::text
            and planned_until = $4::timestamptz
        """)

    /// A day is swept again if its last sweep did not complete it: a notification may be missing until one does.
    static let planDays = Statement(
        "coverage-plan-days",
        """
        insert into coverage_day (environment, bundle_id, day, window_id, planned_at)
        select environment::store_environment, bundle_id, (from_at at time zone 'UTC')::date, window_id, $5::timestamptz
        from unnest($1::text[], $2::text[], $3::timestamptz[], $4::uuid[])
            as given (environment, bundle_id, from_at, window_id)
        order by environment, bundle_id, from_at
        on conflict (environment, bundle_id, day) do update
        set window_id = excluded.window_id, planned_at = excluded.planned_at,
            still_missing = greatest(coverage_day.still_missing, 1)
        where coverage_day.completed_at is null
        """)

    static let giveUp = Statement(
        "coverage-give-up",
        """
        insert into coverage_day (environment, bundle_id, day, window_id, planned_at, given_up)
        select $1::text::store_environment, $2::text, (day at time zone 'UTC')::date, $4::uuid, $6::timestamptz, $5::text
        from unnest($3::timestamptz[]) as given (day)
        order by day
        on conflict (environment, bundle_id, day) do update
        set given_up = excluded.given_up
        where coverage_day.completed_at is null
        """)

    /// Urgent subwindows (DID_RENEW first, after a long outage) may fail, because the others list the same again.
    static let settleWhole = Statement(
        "recovery-window-settle-whole",
        """
        with settled as (
            select whole.id, sum(part.pages)::bigint as pages, sum(part.fetched)::bigint as fetched,
                sum(part.listed)::bigint as listed, sum(part.present)::bigint as present,
                sum(part.missing)::bigint as missing, sum(part.recovered)::bigint as recovered,
                sum(part.rejected)::bigint as rejected, sum(part.unreadable)::bigint as unreadable,
                max(part.fetched_at) as fetched_at, max(part.compared_from) as compared_from,
                min(part.last_error) filter (
                    where part.state = 'failed' and part.notification_type is not distinct from whole.notification_type
                ) as failure
            from recovery_window as whole
            join recovery_window as part on part.part_of = whole.id
            where whole.state = 'open' and whole.subwindows > 0
            group by whole.id
            having bool_and(part.state in ('closed', 'failed'))
        )
        update recovery_window as whole
        set state = case when settled.failure is null then 'closed' else 'failed' end, last_error = settled.failure,
            closed_at = $1::timestamptz, fetched_at = settled.fetched_at, pages = settled.pages,
            fetched = settled.fetched, listed = settled.listed, present = settled.present, missing = settled.missing,
            recovered = settled.recovered, rejected = settled.rejected, unreadable = settled.unreadable,
            compared_from = settled.compared_from
        from settled
        where whole.id = settled.id and whole.state = 'open'
        """)

    static let settleDays = Statement(
        "coverage-settle-days",
        """
        update coverage_day
        set listed = swept.listed, missing = swept.missing, recovered = swept.recovered, rejected = swept.rejected,
            unreadable = swept.unreadable, still_missing = swept.missing - swept.recovered - swept.rejected,
            completed_at = case when swept.missing <= swept.recovered + swept.rejected then $1::timestamptz end
        from recovery_window as swept
        where swept.id = coverage_day.window_id and swept.state = 'closed'
            and coverage_day.completed_at is null and coverage_day.given_up is null
        """)

    /// Never moves back, because a window of failures begins a little before the last one ended.
    static let settleProven = Statement(
        "coverage-settle-complete",
        """
        with edge as (
            select environment, bundle_id, kind,
                coalesce(
                    case kind
                        when 'sweep' then (
                            select min(day)::timestamp at time zone 'UTC'
                            from coverage_day
                            where coverage_day.environment = coverage.environment
                                and coverage_day.bundle_id = coverage.bundle_id
                                and completed_at is null and given_up is null)
                        when 'failures' then (
                            select min(from_at)
                            from recovery_window
                            where recovery_window.environment = coverage.environment
                                and recovery_window.bundle_id = coverage.bundle_id
                                and reason = 'failures' and part_of is null and state in ('open', 'fetched'))
                    end,
                    planned_until) as complete_until
            from coverage
        )
        update coverage
        set complete_until = edge.complete_until
        from edge
        where edge.environment = coverage.environment and edge.bundle_id = coverage.bundle_id
            and edge.kind = coverage.kind and edge.complete_until > coverage.complete_until
        """)

    /// A day whose sweep did not complete it counts as one missing notification, and so does a day that was given up,
    /// because 0 must mean that nothing is missing.
    static let figures = Statement(
        "coverage-figures",
        """
        select coverage.environment::text as environment, coverage.bundle_id,
            (coalesce((
                select sum(missing - recovered - rejected)
                from recovery_window
                where recovery_window.environment = coverage.environment
                    and recovery_window.bundle_id = coverage.bundle_id
                    and state in ('open', 'fetched') and subwindows = 0), 0)
            + coalesce(incomplete.missing, 0))::bigint as missing,
            incomplete.days - incomplete.given_up as incomplete_days, incomplete.given_up as given_up_days
        from coverage
        cross join lateral (
            select count(*) as days, count(given_up) as given_up,
                sum(
                    case
                        when given_up is not null then 1
                        when exists (
                            select from recovery_window
                            where recovery_window.id = coverage_day.window_id and state in ('open', 'fetched'))
                        then still_missing
                        else greatest(still_missing, 1)
                    end) as missing
            from coverage_day
            where coverage_day.environment = coverage.environment and coverage_day.bundle_id = coverage.bundle_id
                and completed_at is null
        ) as incomplete
        where kind = 'sweep'
        """)

    /// Only recent ones of the failed windows.
    static let states = Statement(
        "recovery-window-states",
        """
        select state, count(*) as count
        from recovery_window
        where subwindows = 0 and (state in ('open', 'fetched')
            or state = 'failed' and created_at > statement_timestamp() - interval '2 days')
        group by state
        """)
}
