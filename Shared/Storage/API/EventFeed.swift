import Contracts
import Postgres

/// The timeline of all purchases as a feed that leaves nothing out.
///
/// Ids do not commit in their order: a row may appear behind one that was read already. So a reader is only shown ids up to
/// a mark below which every transaction has ended. The one transaction has written before it writes the timeline, so it has
/// its transaction id before it takes ids of the timeline: once every transaction that ran when the greatest id was read is
/// over, all ids up to that one are decided.
package struct EventFeed: Sendable {
    /// What a reading of the database says.
    package struct Reading: Sendable, Equatable {
        /// The greatest id that is committed.
        package var greatest: Int64
        /// Transactions from this one on had not begun.
        package var nextTransaction: Int64
        /// Transactions before this one are over.
        package var oldestRunning: Int64

        package init(greatest: Int64, nextTransaction: Int64, oldestRunning: Int64) {
            self.greatest = greatest
            self.nextTransaction = nextTransaction
            self.oldestRunning = oldestRunning
        }
    }

    /// Follows readings to the mark. No I/O.
    package struct Horizon: Sendable {
        /// All ids up to this one are decided; nil until the first is.
        package private(set) var id: Int64?
        private var pending: [Reading] = []

        package init() {}

        /// Takes a reading into account; readings have to come in the order in which they were made.
        package mutating func advance(_ reading: Reading) {
            if pending.last?.greatest != reading.greatest, reading.greatest > id ?? -1 { pending.append(reading) }
            while let first = pending.first, first.nextTransaction <= reading.oldestRunning {
                id = max(id ?? 0, first.greatest)
                pending.removeFirst()
            }
        }
    }

    private let connection: PostgresConnection

    /// All statements run on this connection.
    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// The greatest id first, the snapshot after it: who has an id that small has its transaction id by then.
    package func reading() async throws -> Reading {
        let rows = try await connection.pipeline([Command(Self.greatest), Command(Self.snapshot)])
        return Reading(
            greatest: try rows[0][0].value("greatest"), nextTransaction: try rows[1][0].value("next"),
            oldestRunning: try rows[1][0].value("oldest"))
    }

    /// Events behind one id, up to the horizon, in the order of their ids.
    /// - Parameter bundleIds: nil asks for all apps.
    package func events(
        after id: Int64, upTo horizon: Int64, in environment: StoreEnvironment, bundleIds: [String]?, limit: Int
    ) async throws -> [(id: Int64, message: SubscriptionChanged)] {
        try await connection.execute(Self.events, id, horizon, environment.rawValue, bundleIds, Int64(limit)).map {
            row in
            let row = try TimelineRow.read(row)
            return (row.id, row.message)
        }
    }

    static let statements = [greatest, snapshot, events]

    private static let greatest = Statement(
        "event-feed-greatest", "select coalesce(max(id), 0)::bigint as greatest from timeline")

    private static let snapshot = Statement(
        "event-feed-snapshot",
        """
        select pg_snapshot_xmin(given)::text::bigint as oldest, pg_snapshot_xmax(given)::text::bigint as next
        from pg_current_snapshot() as given
        """)

    private static let events = Statement(
        "event-feed-events",
        unsafeSQL: """
            select \(TimelineRow.columns.selected()), id, published_at
            from timeline
            where id > $1::bigint and id <= $2::bigint and environment = $3::text::store_environment
                and ($4::text[] is null or bundle_id = any ($4::text[]))
            order by id
            limit $5::bigint
            """)
}

extension TimelineRow {
    /// What `subscriptions.changed` says of it.
    package var message: SubscriptionChanged { SubscriptionChanged(self) }
}
