import Postgres

import struct Foundation.Date

/// Row counts for a live view.
public struct LedgerStatus: Sendable, Equatable {
    /// Notifications of one kind.
    public struct Kind: Sendable, Equatable {
        /// Apple's `notificationType`, raw, so that an unknown one is kept.
        public var notificationType: String
        /// Apple's `subtype`, raw; nil where there is none.
        public var subtype: String?
        /// How they arrived: a raw value of `NotificationSource`.
        public var source: String
        /// Number of notifications.
        public var count: Int
    }

    /// Number of notifications in the ledger.
    public var notifications: Int
    /// Number of subscriptions and one-time purchases.
    public var subscriptions: Int
    /// Number of indexed dead letters.
    public var rejected: Int
    /// The notifications by type, subtype and source, the most frequent first.
    public var kinds: [Kind]
    /// When the notification recorded last was received; nil for an empty ledger.
    public var newestReceivedAt: Date?
}

/// Counts rows. Counting reads whole indexes, which takes a second at ten million notifications: do not call it per request.
public struct StatusStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// All counts in one snapshot.
    public func status() async throws -> LedgerStatus {
        let answers = try await connection.pipeline([Command(Self.totals), Command(Self.kinds)])
        let kinds = try answers[1].map { row in
            LedgerStatus.Kind(
                notificationType: try row.value("notification_type"), subtype: try row.optional("subtype"),
                source: try row.value("source"), count: Int(try row.value("count", as: Int64.self)))
        }
        let totals = answers[0][0]
        return LedgerStatus(
            notifications: kinds.reduce(0) { $0 + $1.count },
            subscriptions: Int(try totals.value("subscriptions", as: Int64.self)),
            rejected: Int(try totals.value("rejected", as: Int64.self)), kinds: kinds,
            newestReceivedAt: try totals.optional("newest"))
    }

    /// Number of notifications in the ledger.
    public func notifications() async throws -> Int {
        Int(try await connection.execute(Self.count)[0].value("count", as: Int64.self))
    }

    /// Seconds from the webhook to the committed state of the notifications recorded last, newest first.
    public func latencies(ofLast limit: Int) async throws -> [Double] {
        try await connection.execute(Self.latencies, Int64(limit)).map { row in try row.value(at: 0) }
    }

    static let totals = Statement(
        "status-totals",
        """
        select (select count(*) from subscription) as subscriptions, (select count(*) from rejected) as rejected,
            (select received_at from notification order by recorded_at desc limit 1) as newest
        """)

    static let count = Statement("status-count", "select count(*) as count from notification")

    static let kinds = Statement(
        "status-kinds",
        """
        select notification_type, subtype, source, count(*) as count
        from notification
        group by notification_type, subtype, source
        order by count desc, notification_type, subtype, source
        """)

    static let latencies = Statement(
        "status-latencies",
        """
        select extract(epoch from recorded_at - received_at)::double precision as seconds
        from notification
        order by recorded_at desc
        limit $1::bigint
        """)
}
