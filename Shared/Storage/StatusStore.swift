import Postgres

import struct Foundation.Date

/// Figures for a live view.
public struct LedgerStatus: Sendable, Equatable {
    /// Notifications of one kind.
    public struct Kind: Sendable, Equatable {
        /// Apple's word, raw, so that an unknown one is kept.
        public var notificationType: String
        /// Apple's word, raw; nil where there is none.
        public var subtype: String?
        /// How they came to us.
        public var source: String
        /// How many.
        public var count: Int
    }

    /// All notifications.
    public var notifications: Int
    /// Subscriptions and one-time purchases known.
    public var subscriptions: Int
    /// Dead letters indexed.
    public var rejected: Int
    /// Most frequent first.
    public var kinds: [Kind]
    /// Arrival of the notification recorded last; nil while there is none.
    public var newestReceivedAt: Date?
}

/// Reads figures. Counting reads whole indexes: a second at ten million notifications, so not for every request.
public struct StatusStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// The figures of one moment.
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

    /// How many notifications the ledger holds.
    public func notifications() async throws -> Int {
        Int(try await connection.execute(Self.count)[0].value("count", as: Int64.self))
    }

    /// From the webhook to the committed state, in seconds, of the notifications recorded last, newest first.
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
