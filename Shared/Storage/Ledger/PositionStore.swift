import Contracts
import Postgres
import Records

/// The move of one partition's stored offset by a batch.
public struct PositionMove: Sendable, Hashable {
    /// Kafka's id of the cluster; offsets are valid within one cluster only.
    public var cluster: String
    /// Of the worker that reads, such as `storekeeper.state-updater`.
    public var group: String
    /// Name of the topic.
    public var topic: String
    /// Number of the partition, from 0.
    public var partition: Int32
    /// The offset at which the batch began; the move fails where the stored offset differs.
    public var expected: Int64
    /// The offset at which the next batch begins.
    public var next: Int64
    /// Stored with `next`: what shows that the topic is still the one that was read.
    public var evidence: String?

    /// Creates the move of one partition.
    public init(
        cluster: String, group: String, topic: String, partition: Int32, expected: Int64, next: Int64,
        evidence: String? = nil
    ) {
        self.cluster = cluster
        self.group = group
        self.topic = topic
        self.partition = partition
        self.expected = expected
        self.next = next
        self.evidence = evidence
    }
}

/// A stored offset and what shows that it still means what it meant.
public struct StoredPosition: Sendable, Hashable {
    /// The next offset of the partition.
    public var next: LogPosition
    /// Nil where the group has not read anything.
    public var evidence: String?

    /// Creates the position of one partition.
    public init(next: LogPosition, evidence: String?) {
        self.next = next
        self.evidence = evidence
    }
}

/// The stored offsets of consumer groups. Only `LedgerStore.apply` moves them.
public struct PositionStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// The stored offsets of some partitions, without partitions that the group has never read.
    public func positions(
        cluster: String, group: String, partitions: [(topic: String, partition: Int32)]
    ) async throws -> [LogPosition] {
        let rows = try await connection.execute(
            Self.read, cluster, group, partitions.map(\.topic), partitions.map(\.partition))
        return try rows.map { row in try Self.position(row) }
    }

    /// The stored offsets of newly assigned partitions. For a partition that the group has never read, the low watermark is
    /// stored first, because moves compare with a stored row.
    /// - Parameter lowWatermarks: the offset of the oldest record of each partition.
    public func establish(cluster: String, group: String, lowWatermarks: [LogPosition]) async throws -> [LogPosition] {
        guard !lowWatermarks.isEmpty else { return [] }
        let rows = try await repeating {
            try await connection.pipeline([
                Self.command(
                    storing: lowWatermarks.map { StoredPosition(next: $0, evidence: nil) }, cluster: cluster,
                    group: group),
                Command(Self.read, cluster, group, lowWatermarks.map(\.topic), lowWatermarks.map(\.partition)),
            ])[1]
        }
        return try rows.map { row in try Self.position(row) }
    }

    /// The stored offsets with their evidence, without partitions that the group has never had.
    public func stored(
        cluster: String, group: String, partitions: [(topic: String, partition: Int32)]
    ) async throws -> [StoredPosition] {
        let rows = try await connection.execute(
            Self.read, cluster, group, partitions.map(\.topic), partitions.map(\.partition))
        return try rows.map { row in
            StoredPosition(next: try Self.position(row), evidence: try row.optional("evidence"))
        }
    }

    /// Stores where a group begins in partitions that it has not read.
    /// - Parameters:
    ///   - positions: with the evidence of the record before; without it, the partition begins at its earliest record.
    ///   - replacing: whether offsets that are stored already are replaced; otherwise they stay.
    /// - Returns: number of stored offsets.
    public func begin(
        cluster: String, group: String, at positions: [StoredPosition], replacing: Bool
    ) async throws -> Int {
        let insert = Self.command(storing: positions, cluster: cluster, group: group)
        let deletes = Set(positions.map(\.next.topic)).sorted().map { Command(Self.remove, cluster, group, $0) }
        let commands = (replacing ? deletes : []) + [insert]
        return try await repeating { try await connection.pipeline(commands).last?.affected ?? 0 }
    }

    /// Whether the group has stored an offset in any cluster.
    public func isKnown(group: String) async throws -> Bool {
        try await connection.execute(Self.known, group)[0].value("is_known")
    }

    /// Moves stored offsets outside of a batch.
    /// - Returns: number of moved offsets; the others were not as expected.
    public func move(_ moves: [PositionMove]) async throws -> Int {
        guard !moves.isEmpty else { return 0 }
        return try await repeating { try await connection.pipeline([Self.command(moving: moves)])[0].affected }
    }

    /// All stored offsets of a cluster and group.
    public func all(cluster: String, group: String) async throws -> [LogPosition] {
        try await all(cluster: cluster, groups: [group])[group] ?? []
    }

    /// All stored offsets of a cluster and some groups, by group, without groups that have none.
    public func all(cluster: String, groups: [String]) async throws -> [String: [LogPosition]] {
        var positions: [String: [LogPosition]] = [:]
        for row in try await connection.execute(Self.list, cluster, groups) {
            let group: String = try row.value("consumer_group")
            positions[group, default: []].append(try Self.position(row))
        }
        return positions
    }

    /// Deletes a group's offsets in a topic, so that it begins again at the earliest record. Harmless, because a notification
    /// in the ledger has no effect a second time.
    /// - Returns: number of partitions.
    public func delete(cluster: String, group: String, topic: String) async throws -> Int {
        try await connection.execute(Self.remove, cluster, group, topic).affected
    }

    private static func position(_ row: Row) throws -> LogPosition {
        LogPosition(
            topic: try row.value("topic"), partition: try row.value("partition"), offset: try row.value("next_offset"))
    }

    static let read = Statement(
        "position-read",
        """
        select topic, partition, next_offset, evidence
        from consumer_position
        join unnest($3::text[], $4::integer[]) as given (topic, partition) using (topic, partition)
        where cluster = $1::text and consumer_group = $2::text
        order by topic, partition
        """)

    static let insert = Statement(
        "position-insert",
        """
        insert into consumer_position (cluster, consumer_group, topic, partition, next_offset, evidence)
        select $1::text, $2::text, topic, partition, next_offset, evidence
        from unnest($3::text[], $4::integer[], $5::bigint[], $6::text[]) as given (topic, partition, next_offset, evidence)
        order by topic, partition
        on conflict do nothing
        """)

    static let known = Statement(
        "position-known",
        "select exists (select from consumer_position where consumer_group = $1::text) as is_known")

    private static func command(storing positions: [StoredPosition], cluster: String, group: String) -> Command {
        Command(
            insert, cluster, group, positions.map(\.next.topic), positions.map(\.next.partition),
            positions.map(\.next.offset), positions.map(\.evidence))
    }

    static let list = Statement(
        "position-list",
        """
        select consumer_group, topic, partition, next_offset
        from consumer_position
        where cluster = $1::text and consumer_group = any($2::text[])
        order by consumer_group, topic, partition
        """)

    static let remove = Statement(
        "position-remove",
        "delete from consumer_position where cluster = $1::text and consumer_group = $2::text and topic = $3::text")

    /// Compare-and-set. Locks the rows in order first, because an UPDATE of several rows has no defined order; after waiting
    /// for a row it compares with the new value.
    static let move = Statement(
        "position-move",
        """
        with given as (
            select * from unnest($1::text[], $2::text[], $3::text[], $4::integer[], $5::bigint[], $6::bigint[], $7::text[])
                as given (cluster, consumer_group, topic, partition, expected, next, evidence)
        ), locked as materialized (
            select held.cluster, held.consumer_group, held.topic, held.partition
            from consumer_position held
            join given using (cluster, consumer_group, topic, partition)
            order by held.cluster, held.consumer_group, held.topic, held.partition
            for update of held
        )
        update consumer_position held
        set next_offset = given.next, evidence = given.evidence
        from given join locked using (cluster, consumer_group, topic, partition)
        where held.cluster = given.cluster and held.consumer_group = given.consumer_group
            and held.topic = given.topic and held.partition = given.partition
            and held.next_offset = given.expected
        returning held.cluster, held.consumer_group, held.topic, held.partition
        """)

    static func command(moving moves: [PositionMove]) -> Command {
        Command(
            move, moves.map(\.cluster), moves.map(\.group), moves.map(\.topic), moves.map(\.partition),
            moves.map(\.expected), moves.map(\.next), moves.map(\.evidence))
    }
}
