import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// What the console lists, page by page; every page is read along an index.
package struct ConsolePages: Sendable {
    private let connection: PostgresConnection
    private let look: Int

    /// All statements run on this connection.
    /// - Parameter look: how many notifications one page looks at, so that a filter that matches few does not read the whole
    ///   ledger.
    package init(_ connection: PostgresConnection, look: Int = 10_000) {
        self.connection = connection
        self.look = look
    }

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

    /// Notifications of the ledger, and where the next page begins.
    package struct Notifications: Sendable {
        /// The ones recorded last first.
        package var lines: [LedgerLine]
        /// The last one that was looked at; nil where nothing is left.
        package var last: UUID?
        /// When that one was recorded.
        package var lastRecordedAt: Date?
        /// How many were looked at, if the page is short because the rest of them did not match.
        package var looked: Int?
    }

    /// The ones recorded last first.
    /// - Parameter uuid: the last one that the page before looked at.
    package func notifications(_ filter: Filter, after uuid: UUID?, limit: Int) async throws -> Notifications {
        let isOfApp = filter.environment != nil && filter.bundleId != nil
        let lines = try await connection.execute(
            isOfApp ? Self.ofApp.page : Self.ofAll.page, filter.from, uuid, Int64(look),
            filter.environment?.rawValue, filter.bundleId, filter.notificationType, Int64(limit + 1)
        ).map { row in try LedgerLine.read(row) }
        if lines.count > limit {
            let last = lines[limit - 1]
            return Notifications(
                lines: Array(lines.prefix(limit)), last: last.notificationUUID, lastRecordedAt: last.recordedAt)
        }
        let place = Int64(look - 1)
        let end =
            try await isOfApp
            ? connection.execute(
                Self.ofApp.end, filter.from, uuid, place, filter.environment?.rawValue, filter.bundleId)
            : connection.execute(Self.ofAll.end, filter.from, uuid, place)
        let last = end.first
        return Notifications(
            lines: lines, last: try last?.value("notification_uuid"), lastRecordedAt: try last?.value("recorded_at"),
            looked: last == nil ? nil : look)
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
                try OperatorActionStore.action(row)
            )
        }
    }

    /// How many notifications were recorded in each of the latest minutes, the oldest first.
    package func perMinute(since time: Date) async throws -> [(minute: Date, count: Int64)] {
        try await connection.execute(Self.perMinute, time).map { row in
            (try row.value("minute"), try row.value("count"))
        }
    }

    static let statements = [apps, ofAll.page, ofAll.end, ofApp.page, ofApp.end, estimate, actions, perMinute]

    private static let apps = Statement(
        "console-apps",
        """
        with recursive app (environment, bundle_id) as (
            (select environment, bundle_id from notification order by bundle_id, environment limit 1)
            union all
            select next.environment, next.bundle_id
            from app
            cross join lateral (
                select environment, bundle_id
                from notification
                where (notification.bundle_id, notification.environment) > (app.bundle_id, app.environment)
                order by bundle_id, environment
                limit 1
            ) as next
        )
        select environment::text as environment, bundle_id from app order by app.environment, bundle_id
        """)

    private typealias Look = (page: Statement, end: Statement)

    /// An app's notifications have an index of their own.
    private static let ofApp = look(
        "console-notifications-app", "console-notifications-app-end",
        where: "environment = $4::text::store_environment and bundle_id = $5::text and ")
    private static let ofAll = look("console-notifications", "console-notifications-end", where: "")

    private static func look(_ page: StaticString, _ end: StaticString, where condition: String) -> Look {
        // Without "or": a general plan finds the beginning by the index as well.
        let rows = """
            from notification
                where \(condition)recorded_at >= coalesce($1::timestamptz, '-infinity')
                    and (recorded_at, notification_uuid) < (
                        coalesce((
                            select last.recorded_at
                            from notification last
                            where last.notification_uuid = $2::uuid), 'infinity'),
                        coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
                order by recorded_at desc, notification_uuid desc
            """
        return (
            Statement(
                page,
                unsafeSQL: """
                    select \(LedgerLine.columns.selected())
                    from (
                        select *
                        \(rows)
                        limit $3::bigint
                    ) as notification
                    where ($4::text is null or environment = $4::text::store_environment)
                        and ($5::text is null or bundle_id = $5::text)
                        and ($6::text is null or notification_type = $6::text)
                    order by recorded_at desc, notification_uuid desc
                    limit $7::bigint
                    """),
            Statement(
                end,
                unsafeSQL: """
                    select notification_uuid, recorded_at
                    \(rows)
                    limit 1
                    offset $3::bigint
                    """)
        )
    }

    private static let estimate = Statement(
        "console-estimate",
        "select greatest(reltuples, 0)::bigint as count from pg_class where oid = 'notification'::regclass")

    private static let actions = Statement(
        "console-actions",
        unsafeSQL: """
            select id, \(OperatorActionStore.columns)
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
