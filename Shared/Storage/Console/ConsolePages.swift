import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// What the console lists, page by page; every page is read along an index.
package struct ConsolePages: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// The apps that the ledger has anything of, Production first. As many look-ups as there are apps.
    package func apps() async throws -> [CoverageStore.App] {
        try await connection.execute(Self.apps).map { row in
            CoverageStore.App(try SubscriptionStore.environment(row), try row.value("bundle_id"))
        }
    }

    /// Which notifications ``notifications(_:after:limit:)`` lists; nil restricts nothing.
    package struct Filter: Sendable {
        package var notificationType: String?
        package var environment: StoreEnvironment?
        package var bundleId: String?
        /// Recorded at or after.
        package var from: Date?

        package init() {}
    }

    /// The ones recorded last first.
    /// - Parameter uuid: the last one of the page before.
    package func notifications(_ filter: Filter, after uuid: UUID?, limit: Int) async throws -> [LedgerLine] {
        try await connection.execute(
            Self.notifications, filter.notificationType, filter.environment?.rawValue, filter.bundleId, filter.from,
            uuid, Int64(limit)
        ).map { row in try LedgerLine.read(row) }
    }

    /// About how many notifications the ledger has: what the database's statistics say, at no cost.
    package func estimatedNotifications() async throws -> Int64 {
        try await connection.execute(Self.estimate).first?.value("count") ?? 0
    }

    /// What people did, the newest first.
    /// - Parameter id: of the last row of the page before.
    package func actions(
        after id: Int64?, actor: String?, limit: Int
    ) async throws -> [(id: Int64, action: OperatorAction)] {
        try await connection.execute(Self.actions, id, actor, Int64(limit)).map { row in
            (
                try row.value("id"),
                OperatorAction(
                    actedAt: try row.value("acted_at"), actor: try row.value("actor"), action: try row.value("action"),
                    subject: try row.value("subject"), note: try row.optional("note"))
            )
        }
    }

    /// How many notifications were recorded in each of the latest minutes, the oldest first.
    package func perMinute(since time: Date) async throws -> [(minute: Date, count: Int64)] {
        try await connection.execute(Self.perMinute, time).map { row in
            (try row.value("minute"), try row.value("count"))
        }
    }

    static let statements = [apps, notifications, estimate, actions, perMinute]

    private static let apps = Statement(
        "console-apps",
        """
        with recursive app (environment, bundle_id) as (
            (select environment, bundle_id from notification order by environment, bundle_id limit 1)
            union all
            select next.environment, next.bundle_id
            from app
            cross join lateral (
                select environment, bundle_id
                from notification
                where (notification.environment, notification.bundle_id) > (app.environment, app.bundle_id)
                order by environment, bundle_id
                limit 1
            ) as next
        )
        select environment::text as environment, bundle_id from app
        """)

    private static let notifications = Statement(
        "console-notifications",
        unsafeSQL: """
            select \(LedgerLine.columns.selected())
            from notification
            where ($1::text is null or notification_type = $1::text)
                and ($2::text is null or environment = $2::text::store_environment)
                and ($3::text is null or bundle_id = $3::text)
                and recorded_at >= coalesce($4::timestamptz, '-infinity')
                and ($5::uuid is null or (recorded_at, notification_uuid) < (
                    select last.recorded_at, last.notification_uuid
                    from notification last
                    where last.notification_uuid = $5::uuid))
            order by recorded_at desc, notification_uuid desc
            limit $6::bigint
            """)

    private static let estimate = Statement(
        "console-estimate",
        "select greatest(reltuples, 0)::bigint as count from pg_class where oid = 'notification'::regclass")

    private static let actions = Statement(
        "console-actions",
        """
        select id, acted_at, actor, action, subject, note
        from operator_action
        where ($1::bigint is null or id < $1::bigint) and ($2::text is null or actor = $2::text)
        order by id desc
        limit $3::bigint
        """)

    private static let perMinute = Statement(
        "console-per-minute",
        """
        select date_trunc('minute', recorded_at) as minute, count(*) as count
        from notification
        where recorded_at >= $1::timestamptz
        group by 1
        order by 1
        """)
}
