import Contracts
import Postgres

import struct Foundation.Date

/// A dead letter, without its bytes, which stay in the log.
public struct RejectedRow: Sendable, Equatable {
    /// The cluster the position belongs to.
    public var cluster: String
    /// Where the dead letter stands.
    public var position: LogPosition
    /// The stage that refused it.
    public var stage: String
    /// The stage's reason, as in the metrics.
    public var reason: String
    /// One sentence for people.
    public var message: String
    /// When it was refused.
    public var rejectedAt: Date

    /// All fields.
    public init(
        cluster: String, position: LogPosition, stage: String, reason: String, message: String, rejectedAt: Date
    ) {
        self.cluster = cluster
        self.position = position
        self.stage = stage
        self.reason = reason
        self.message = message
        self.rejectedAt = rejectedAt
    }
}

/// Index of the dead letters.
public struct RejectedStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// Adds dead letters; one that is known stays as it is.
    /// - Returns: how many were new.
    public func record(_ rows: [RejectedRow]) async throws -> Int {
        guard !rows.isEmpty else { return 0 }
        return try await repeating {
            try await connection.execute(
                Self.insert, rows.map(\.cluster), rows.map(\.position.topic), rows.map(\.position.partition),
                rows.map(\.position.offset), rows.map(\.stage), rows.map(\.reason), rows.map(\.message),
                rows.map(\.rejectedAt)
            ).affected
        }
    }

    /// The latest ones, newest first.
    public func newest(_ limit: Int) async throws -> [RejectedRow] {
        try await connection.execute(Self.newest, Int64(limit)).map { row in
            RejectedRow(
                cluster: try row.value("cluster"),
                position: LogPosition(
                    topic: try row.value("topic"), partition: try row.value("log_partition"),
                    offset: try row.value("log_offset")),
                stage: try row.value("stage"), reason: try row.value("reason"), message: try row.value("message"),
                rejectedAt: try row.value("rejected_at"))
        }
    }

    /// How many there are, by stage and reason.
    public func counts() async throws -> [(stage: String, reason: String, count: Int)] {
        try await connection.execute(Self.counts).map { row in
            (try row.value("stage"), try row.value("reason"), Int(try row.value("count", as: Int64.self)))
        }
    }

    static let insert = Statement(
        "rejected-insert",
        """
        insert into rejected (cluster, topic, log_partition, log_offset, stage, reason, message, rejected_at)
        select cluster, topic, log_partition, log_offset, stage, reason, message, rejected_at
        from unnest(
            $1::text[], $2::text[], $3::integer[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::timestamptz[]
        ) as given (cluster, topic, log_partition, log_offset, stage, reason, message, rejected_at)
        order by cluster, topic, log_partition, log_offset
        on conflict do nothing
        """)

    static let newest = Statement(
        "rejected-newest",
        """
        select cluster, topic, log_partition, log_offset, stage, reason, message, rejected_at
        from rejected
        order by rejected_at desc, log_offset desc
        limit $1::bigint
        """)

    static let counts = Statement(
        "rejected-counts",
        """
        select stage, reason, count(*) as count
        from rejected
        group by stage, reason
        order by count desc, stage, reason
        """)
}
