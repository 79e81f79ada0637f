import Foundation
import Postgres

/// Fills a database made by ``Reference`` with many more of its rows.
struct Filler {
    let url: String
    let batch: Int

    /// Inserts until there are so many notifications and sightings.
    func fill(_ count: Int, saying: (String) -> Void) async throws {
        let connection = Bench.connection(url)
        try await connection.run(unsafeScript: "set synchronous_commit = off")
        let passes = max(1, count / batch)
        let step = 200
        let start = ContinuousClock.now
        for first in stride(from: 0, to: passes, by: step) {
            let last = min(first + step, passes) - 1
            for table in ["notification", "notification_payload"] {
                try await connection.run(
                    unsafeScript: try await Reference.insertion(
                        into: table, connection, pass: "pass::text",
                        from: " cross join generate_series(\(first), \(last)) as pass", isCopy: true))
            }
            try await connection.run(
                unsafeScript: """
                    insert into sighting (seen_at, log_offset, notification_uuid, log_partition, topic)
                    select now(), log_offset, md5(notification_uuid::text || pass)::uuid, log_partition, 'notifications.verified'
                    from pattern_notification cross join generate_series(\(first), \(last)) as pass;
                    """)
            if first / step % 10 == 0 {
                saying("\((last + 1) * batch) of \(count) after \(Int((ContinuousClock.now - start) / .seconds(1))) s")
            }
        }
        // Each by itself: what is sent together is one transaction, and this cannot be in one.
        for statement in ["vacuum analyze", "checkpoint"] { try await connection.run(unsafeScript: statement) }
        await connection.close()
    }

    /// Bytes per row of what was filled, heap with TOAST and indexes.
    func sizes() async throws -> String {
        let connection = Bench.connection(url)
        let rows = try await connection.execute(
            Statement(
                unsafeSQL: """
                    select name, count, bytes / count as heap, indexes / count as indexes
                    from (
                        select 'notification' as name, (select count(*) from notification) as count,
                            pg_table_size('notification') as bytes, pg_indexes_size('notification') as indexes
                        union all
                        select 'notification_payload', (select count(*) from notification_payload),
                            sum(pg_table_size(inhrelid))::bigint, sum(pg_indexes_size(inhrelid))::bigint
                        from pg_inherits where inhparent = 'notification_payload'::regclass
                        union all
                        select 'sighting', (select count(*) from sighting), pg_table_size('sighting'),
                            pg_indexes_size('sighting')
                    ) as sizes
                    """))
        await connection.close()
        return try rows.map { row in
            "\(try row.value("name", as: String.self)): \(try row.value("count", as: Int64.self)) rows, "
                + "\(try row.value("heap", as: Int64.self)) bytes each and \(try row.value("indexes", as: Int64.self)) of indexes"
        }.joined(separator: "\n")
    }
}
