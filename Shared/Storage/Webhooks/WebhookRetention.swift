import Postgres

import struct Foundation.Date

/// Creates the partitions of the log of webhooks ahead of time, one a day, and drops those whose time has passed.
package struct WebhookRetention: Sendable {
    /// Days for which failed attempts are kept.
    package static let attemptDays = 14

    private let connection: PostgresConnection

    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// Creates the partitions from those of the oldest changes that may be enqueued to those of the next week, and drops older ones.
    /// Does nothing while another process does.
    /// - Returns: number of dropped partitions.
    package func run(at now: Date) async throws -> Int {
        // Senders, which lock the tables in their own order, may be in the way.
        let rows = try await repeating {
            try await connection.pipeline([
                Command(Self.make, now, Int64(WebhookQueueStore.deliveryDays), Int64(Self.attemptDays)),
                Command(Self.drop, now, Int64(WebhookQueueStore.deliveryDays), Int64(Self.attemptDays)),
            ])
        }
        return Int(try rows[1][0].value("dropped", as: Int64.self))
    }

    static let statements = [make, drop]

    private static let make = Statement(
        "webhook-days-make",
        """
        select make_webhook_days(today - $2::bigint::integer, today - $3::bigint::integer, today + 7)
        from (select ($1::timestamptz at time zone 'UTC')::date as today) as given
        """)

    private static let drop = Statement(
        "webhook-days-drop",
        """
        select drop_webhook_days(today - $2::bigint::integer, today - $3::bigint::integer) as dropped
        from (select ($1::timestamptz at time zone 'UTC')::date as today) as given
        """)
}
