import Postgres

extension RecoveryItemStore {
    static let statements = [lockWindows, insert, arrive, refuse, waiting, find, deletePresent, deletePresentOfSettled]

    static func inserting(_ items: [RecoveryItem]) -> Command {
        Command(
            insert, items.map(\.window), items.map(\.notificationUUID), items.map(\.state.rawValue),
            items.map(\.notificationType), items.map(\.subtype), items.map(\.reason), items.map(\.message),
            items.map(\.noticedAt))
    }

    static let lockWindows = Statement(
        "recovery-item-lock-windows",
        """
        select id
        from recovery_window
        where id = any ($1::uuid[])
        order by id
        for no key update
        """)

    static let insert = Statement(
        "recovery-item-insert",
        """
        with inserted as (
            insert into recovery_item (
                window_id, notification_uuid, state, notification_type, subtype, reason, message, noticed_at)
            select given.window_id, given.notification_uuid, given.state, given.notification_type, given.subtype,
                given.reason, given.message, given.noticed_at
            from unnest(
                $1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::timestamptz[]
            ) as given (
                window_id, notification_uuid, state, notification_type, subtype, reason, message, noticed_at)
            join recovery_window on recovery_window.id = given.window_id
                and recovery_window.state in ('open', 'fetched')
            order by given.window_id, given.notification_uuid
            on conflict (window_id, notification_uuid) do nothing
            returning window_id, state
        )
        select window_id, state, count(*) as count
        from inserted
        group by window_id, state
        """)

    static let arrive = Statement(
        "recovery-item-arrive",
        """
        with due as (
            select window_id, notification_uuid
            from recovery_item
            where state = 'published'
                and exists (
                    select from notification where notification.notification_uuid = recovery_item.notification_uuid)
            order by window_id, notification_uuid
            for update skip locked
        ), done as (
            update recovery_item
            set state = 'arrived', settled_at = $1::timestamptz
            from due
            where recovery_item.window_id = due.window_id
                and recovery_item.notification_uuid = due.notification_uuid
            returning recovery_item.window_id
        )
        select window_id, count(*) as count
        from done
        group by window_id
        """)

    /// Counts only dead letters of records that recovery published, after it published them: any client can post a forgery
    /// under the same uuid, which is rejected. The time is by the clock of the publishing instance, which may differ from that
    /// of the instance that stored the item, hence the minutes of tolerance.
    static let refuse = Statement(
        "recovery-item-refuse",
        """
        with due as (
            select window_id, recovery_item.notification_uuid, why.stage, why.reason, why.message
            from recovery_item
            cross join lateral (
                select stage, rejected.reason, rejected.message
                from rejected
                where rejected.notification_uuid = recovery_item.notification_uuid and source = 'history'
                    and received_at >= noticed_at - interval '5 minutes'
                order by rejected_at desc
                limit 1
            ) as why
            where state = 'published'
            order by window_id, recovery_item.notification_uuid
            for update of recovery_item skip locked
        ), done as (
            update recovery_item
            set state = 'rejected', settled_at = $1::timestamptz, reason = due.stage || ': ' || due.reason,
                message = due.message
            from due
            where recovery_item.window_id = due.window_id
                and recovery_item.notification_uuid = due.notification_uuid
            returning recovery_item.window_id
        )
        select window_id, count(*) as count
        from done
        group by window_id
        """)

    static let waiting = Statement(
        "recovery-item-waiting",
        """
        select id
        from unnest($1::uuid[]) as given (id)
        where exists (select from recovery_item where window_id = given.id and state = 'published')
        """)

    static let find = Statement(
        "recovery-item-find",
        """
        select notification_uuid, state, notification_type, subtype, reason, message, noticed_at
        from recovery_item
        where window_id = $1::uuid and ($2::text[] is null or state = any ($2::text[]))
        order by noticed_at, notification_uuid
        limit $3::bigint
        """)

    static let deletePresent = Statement(
        "recovery-item-delete-present",
        "delete from recovery_item where window_id = any ($1::uuid[]) and state = 'present'")

    /// Of all windows, because a process may have ended after it closed one.
    static let deletePresentOfSettled = Statement(
        "recovery-item-delete-present-of-settled",
        """
        delete from recovery_item
        where ctid = any (array(
                select item.ctid
                from recovery_item item
                join recovery_window held on held.id = item.window_id
                where held.state in ('closed', 'failed') and item.state = 'present'
                limit $1::bigint))
            and state = 'present'
        """)
}
