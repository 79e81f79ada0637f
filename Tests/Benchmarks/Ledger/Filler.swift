import Foundation
import Postgres

/// Fills a database of ``Reference`` with many more of its rows.
struct Filler {
    let url: String
    let batch: Int
    /// Number of patterns.
    let patterns: Int

    /// Inserts until there are so many notifications and so many seen notifications.
    func fill(notifications: Int, seen: Int, saying: (String) -> Void) async throws {
        let connection = DatabaseServer.connection(url)
        try await connection.run(unsafeScript: "set synchronous_commit = off")
        try await fill(notifications, "notifications", saying) { passes in
            for table in ["notification", "notification_payload"] {
                try await connection.run(
                    unsafeScript: try await Reference.insertion(
                        into: table, connection, pass: "pass::text", from: " cross join \(passes)",
                        pattern: "pass % \(patterns)", isCopy: true))
            }
        }
        try await fill(seen, "seen", saying) { passes in
            try await connection.run(
                unsafeScript: """
                    insert into seen_notification (seen_at, kafka_offset, notification_uuid, kafka_partition, topic)
                    select now(), kafka_offset, md5(notification_uuid::text || pass)::uuid, kafka_partition, 'notifications.verified'
                    from pattern_notification cross join \(passes)
                    where pattern = pass % \(patterns);
                    """)
        }
        // Each on its own: statements sent together are one transaction, which vacuum cannot be part of.
        for statement in ["vacuum analyze", "checkpoint"] { try await connection.run(unsafeScript: statement) }
        await connection.close()
    }

    /// Inserts purchases with their periods and claims until there are so many, and a narrow table of as many rows.
    /// - Returns: account tokens of some of them.
    func fill(subscriptions: Int, saying: (String) -> Void) async throws -> [String] {
        let connection = DatabaseServer.connection(url)
        try await connection.run(unsafeScript: "set synchronous_commit = off")
        let known = try await connection.execute(
            Statement(unsafeSQL: "select count(*) / \(patterns) as each from pattern_subscription"))
        let passes = subscriptions / Int(try known[0].value("each", as: Int64.self)) + 1
        for first in stride(from: 0, to: passes, by: 500) {
            let last = min(first + 500, passes) - 1
            for table in ["subscription", "access_period", "account_claim", "purchase_account", "account_version"] {
                try await connection.run(
                    unsafeScript: try await Reference.insertion(
                        into: table, connection, pass: "pass::text",
                        from: " cross join generate_series(\(first), \(last)) as pass",
                        pattern: "pass % \(patterns)", isCopy: true))
            }
            saying("\(last + 1) of \(passes) portions of subscriptions")
        }
        try await connection.run(
            unsafeScript: """
                create table narrow as
                select row_number() over () as id, status from subscription limit \(subscriptions);
                alter table narrow add primary key (id);
                """)
        for statement in ["vacuum analyze", "checkpoint"] { try await connection.run(unsafeScript: statement) }
        let tokens = try await connection.execute(
            Statement(
                unsafeSQL: """
                    select app_account_token::text as token from account_claim tablesample system (1) limit 10000
                    """)
        ).map { row in try row.value("token", as: String.self) }
        await connection.close()
        return tokens
    }

    private func fill(
        _ count: Int, _ noun: String, _ saying: (String) -> Void, _ insert: (String) async throws -> Void
    ) async throws {
        let passes = count / batch
        let step = 200
        let start = ContinuousClock.now
        for first in stride(from: 0, to: passes, by: step) {
            let last = min(first + step, passes) - 1
            try await insert("generate_series(\(first), \(last)) as pass")
            if first / step % 10 == 0 {
                let seconds = Int((ContinuousClock.now - start) / .seconds(1))
                saying("\((last + 1) * batch) of \(count) \(noun) after \(seconds) s")
            }
        }
    }

    /// Bytes per row of what was filled, heap with TOAST and indexes.
    func sizes() async throws -> String {
        let connection = DatabaseServer.connection(url)
        let rows = try await connection.execute(
            Statement(
                unsafeSQL: """
                    select name, count, bytes / greatest(count, 1) as heap, indexes / greatest(count, 1) as indexes
                    from (
                        select 'notification' as name, (select count(*) from notification) as count,
                            pg_table_size('notification') as bytes, pg_indexes_size('notification') as indexes
                        union all
                        select 'notification_payload', (select count(*) from notification_payload),
                            sum(pg_table_size(inhrelid))::bigint, sum(pg_indexes_size(inhrelid))::bigint
                        from pg_inherits where inhparent = 'notification_payload'::regclass
                        union all
                        select 'seen_notification', (select count(*) from seen_notification), pg_table_size('seen_notification'),
                            pg_indexes_size('seen_notification')
                    ) as sizes
                    """))
        await connection.close()
        return try rows.map { row in
            "\(try row.value("name", as: String.self)): \(try row.value("count", as: Int64.self)) rows, "
                + "\(try row.value("heap", as: Int64.self)) bytes each and \(try row.value("indexes", as: Int64.self)) of indexes"
        }.joined(separator: "\n")
    }
}
