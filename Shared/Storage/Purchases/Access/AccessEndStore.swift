import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date

/// Tells of access that ended by the clock alone: an access period is over, none follows it, and nothing was told of the purchase since.
/// Apple sends a message about most ends, but not about one whose notification was lost, of a non-renewing subscription, or of a grace
/// period that ends while Apple's message is late.
///
/// The stored moment says up to where the ends were read. It moves in the transaction that writes the rows, so a process that is killed
/// leaves nothing half told, and its row is locked meanwhile, so one process at a time tells. That an end is told once does not depend
/// on the moment: a row of the timeline that was written after the end is what says that it was told.
public struct AccessEndStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// The result of one turn.
    public struct Batch: Sendable, Equatable {
        /// Number of ends read.
        public var ends: Int
        /// Number of them that nothing had told of; of several ends of one purchase the last one counts.
        public var told: Int
    }

    /// Tells of the next ends. At the first call ever only the moment is stored: what ended before it is not told.
    /// - Parameters:
    ///   - limit: number of ends to read; more where several are at the same moment as the last one.
    ///   - patience: how long after an end another message is waited for, in seconds.
    ///   - now: the clock of this process.
    /// - Returns: nil where no end is due, or another process tells of them.
    public func next(limit: Int = 500, patience: Double, at now: Date) async throws -> Batch? {
        let due = try now.addingTimeInterval(-patience).atPostgresPrecision()
        guard let waiting = try await connection.execute(Self.waiting, due).first else {
            _ = try await repeating { try await connection.execute(Self.begin, try now.atPostgresPrecision()) }
            return nil
        }
        guard try waiting.value("is_waiting") else { return nil }
        return try await repeating {
            try await connection.transaction { transaction in
                guard let moment = try transaction.execute(Self.moment).first else { return nil }
                let rows = try transaction.execute(
                    Self.ends, try moment.value("read_until", as: Date.self), due, Int64(limit))
                guard let last = rows.last else { return nil }
                let open = try rows.filter { row in try row.value("is_open") }
                var ends: [SubscriptionKey: Date] = [:]
                for row in open { ends[try SubscriptionStore.key(row)] = try row.value("ends_at", as: Date.self) }
                let told = ends.isEmpty ? 0 : try Self.tell(ends, at: now, in: transaction)
                _ = try transaction.execute(Self.move, try last.value("ends_at", as: Date.self))
                return Batch(ends: rows.count, told: told)
            }
        }
    }

    /// Decides once more with the purchases locked, because a notification may have been applied meanwhile.
    private static func tell(
        _ ends: [SubscriptionKey: Date], at now: Date, in transaction: PostgresTransaction
    ) throws -> Int {
        let keys = ends.keys.sorted()
        let rows = try transaction.pipeline(
            PurchaseInBatch.commands(reading: keys) + [
                Command(told, keys.map(\.environment.rawValue), keys.map(\.originalTransactionId))
            ])
        var (purchases, _) = try PurchaseInBatch.read(rows[...])
        let applied = try rows[rows.count - 1].reduce(into: [SubscriptionKey: Date]()) { applied, row in
            applied[try SubscriptionStore.key(row)] = try row.value("applied_at", as: Date.self)
        }
        var effects = LedgerBatch.Effects(gaps: Gaps(added: [], neighbours: []))
        for key in keys {
            guard let end = ends[key], applied[key].map({ $0 < end }) ?? true else { continue }
            if let row = purchases[key]?.ended(at: end, now: now) { effects.timeline.append(row) }
        }
        effects.written = keys.compactMap { purchases[$0] }.filter(\.isWritten)
        var writing = LedgerWriting(transaction)
        try writing.write(effects, of: LedgerBatch.Additions(), recordedAt: now)
        _ = try writing.results()
        return effects.timeline.count
    }

    static let statements = [begin, waiting, moment, move, ends, told]

    /// Among the stored positions, because it is one: of a reader, in what is ordered. Its offset is the moment in microseconds since
    /// 1970, up to and including which the ends were read.
    private static let position =
        "cluster = 'postgres' and consumer_group = 'storekeeper.access-ends' and topic = 'access_period' and partition = 0"
    private static let readUntil = "timestamptz 'epoch' + next_offset * interval '1 microsecond'"

    private static let begin = Statement(
        "access-end-begin",
        """
        insert into consumer_position (cluster, consumer_group, topic, partition, next_offset)
        values (
            'postgres', 'storekeeper.access-ends', 'access_period', 0,
            (extract(epoch from $1::timestamptz) * 1000000)::bigint)
        on conflict do nothing
        """)

    private static let waiting = Statement(
        "access-end-waiting",
        unsafeSQL: """
            select exists (
                select
                from access_period
                where not upper_inf(period) and upper(period) > \(readUntil) and upper(period) <= $1::timestamptz
            ) as is_waiting
            from consumer_position
            where \(position)
            """)

    private static let moment = Statement(
        "access-end-moment",
        unsafeSQL: """
            select \(readUntil) as read_until
            from consumer_position
            where \(position)
            for update skip locked
            """)

    private static let move = Statement(
        "access-end-move",
        unsafeSQL: """
            update consumer_position
            set next_offset = (extract(epoch from $1::timestamptz) * 1000000)::bigint
            where \(position)
            """)

    /// The next ends, in order. One is open where no other period goes on from it and the newest row of the purchase was applied before
    /// it: a row that was applied later says what the access has been since.
    private static let ends = Statement(
        "access-end-ends",
        """
        select ended.environment::text as environment, ended.original_transaction_id, ended.ends_at,
            not exists (
                select
                from access_period later
                where later.environment = ended.environment
                    and later.original_transaction_id = ended.original_transaction_id and ended.ends_at <@ later.period)
            and coalesce((
                select applied_at
                from timeline
                where timeline.environment = ended.environment
                    and timeline.original_transaction_id = ended.original_transaction_id
                order by id desc
                limit 1) < ended.ends_at, true) as is_open
        from (
            select environment, original_transaction_id, upper(period) as ends_at
            from access_period
            where not upper_inf(period) and upper(period) > $1::timestamptz and upper(period) <= $2::timestamptz
            order by upper(period)
            fetch first ($3::bigint) rows with ties
        ) as ended
        order by ended.ends_at
        """)

    /// When the newest row of each purchase was applied. Runs after the purchases are locked.
    private static let told = Statement(
        "access-end-told",
        """
        select given_environment as environment, given_id as original_transaction_id, newest.applied_at
        from unnest($1::text[], $2::text[]) as given (given_environment, given_id)
        cross join lateral (
            select applied_at
            from timeline
            where environment = given_environment::store_environment and original_transaction_id = given_id
            order by id desc
            limit 1
        ) as newest
        """)
}
