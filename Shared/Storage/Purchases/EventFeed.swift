import Contracts
import Postgres

import struct Foundation.Date

/// The timeline of all purchases as a feed without omissions.
///
/// Ids do not commit in their order: a row may appear with a lower id than one that was read already. So a reader gets ids up
/// to a horizon, below which every transaction has ended. `LedgerStore.apply` writes other rows before the timeline, so it has
/// a transaction id before it takes ids of the timeline: once every transaction that ran when the greatest id was read has
/// ended, all ids up to that one are committed or rolled back.
package struct EventFeed: Sendable {
    /// A reading of the database.
    package struct Reading: Sendable, Equatable {
        /// The greatest committed id.
        package var greatest: Int64
        /// Transactions with this id and greater ones had not begun.
        package var nextTransaction: Int64
        /// Transactions with lower ids have ended.
        package var oldestRunning: Int64

        package init(greatest: Int64, nextTransaction: Int64, oldestRunning: Int64) {
            self.greatest = greatest
            self.nextTransaction = nextTransaction
            self.oldestRunning = oldestRunning
        }
    }

    /// Computes the horizon from readings. No I/O.
    package struct Horizon: Sendable {
        /// All ids up to this one are committed or rolled back; nil until a reading has settled, also after the database was
        /// restored.
        package private(set) var id: Int64?
        private var pending: [(reading: Reading, at: ContinuousClock.Instant)] = []
        private var last: Reading?

        package init() {}

        /// Adds a reading; readings must be added in the order in which they were made.
        package mutating func advance(_ reading: Reading, at instant: ContinuousClock.Instant) {
            // Neither goes back, unless the database was restored: then the same ids are given again.
            if let last, reading.nextTransaction < last.nextTransaction || reading.greatest < last.greatest {
                (id, pending) = (nil, [])
            }
            last = reading
            if pending.last?.reading.greatest != reading.greatest, reading.greatest > id ?? -1 {
                pending.append((reading, instant))
            }
            // All at once: a transaction that was open for a day holds back hundreds of thousands.
            let decided = pending.prefix { $0.reading.nextTransaction <= reading.oldestRunning }
            for one in decided { id = max(id ?? 0, one.reading.greatest) }
            pending.removeFirst(decided.count)
        }

        /// For how long the oldest event that is not decided has been known; zero where all are decided.
        package func undecided(at instant: ContinuousClock.Instant) -> Duration {
            pending.first.map { $0.at.duration(to: instant) } ?? .zero
        }
    }

    private let connection: PostgresConnection

    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// Reads the greatest id before the snapshot: every transaction with a lower id has its transaction id by then.
    package func reading() async throws -> Reading {
        let rows = try await connection.pipeline([Command(Self.greatest), Command(Self.snapshot)])
        return Reading(
            greatest: try rows[0][0].value("greatest"), nextTransaction: try rows[1][0].value("next"),
            oldestRunning: try rows[1][0].value("oldest"))
    }

    /// Events after an id, up to the horizon, in the order of their ids.
    /// - Parameter bundleIds: nil means all apps.
    package func events(
        after id: Int64, upTo horizon: Int64, in environment: StoreEnvironment, bundleIds: [String]?, limit: Int
    ) async throws -> [(id: Int64, message: SubscriptionChanged)] {
        try await connection.execute(Self.events, id, horizon, environment.rawValue, bundleIds, Int64(limit)).map {
            row in
            let row = try TimelineRow.read(row)
            return (row.id, row.message)
        }
    }

    /// What one look at the feed reads.
    package struct Page: Sendable {
        /// In the order of their ids.
        package var events: [(id: Int64, message: SubscriptionChanged)]
        /// The id after which the next look goes on.
        package var position: Int64
        /// Whether ids up to the horizon are left to read.
        package var hasMore: Bool

        package init(events: [(id: Int64, message: SubscriptionChanged)], position: Int64, hasMore: Bool) {
            self.events = events
            self.position = position
            self.hasMore = hasMore
        }
    }

    /// Ids that one look reads at most. A reader whose events are rare would otherwise scan all rows of all apps, again with
    /// each look.
    package static let span: Int64 = 50_000

    /// The next events after an id, among as many ids as one look reads. No id up to the horizon can appear any more, so the next
    /// look goes on behind ids that are of other apps.
    /// - Parameter bundleIds: nil means all apps.
    package func page(
        after id: Int64, upTo horizon: Int64, in environment: StoreEnvironment, bundleIds: [String]?, limit: Int,
        span: Int64 = Self.span
    ) async throws -> Page {
        guard id < horizon else { return Page(events: [], position: id, hasMore: false) }
        let end = horizon - id > span ? id + span : horizon
        let events = try await events(after: id, upTo: end, in: environment, bundleIds: bundleIds, limit: limit)
        let position = events.count < limit ? end : events.last?.id ?? end
        return Page(events: events, position: position, hasMore: position < horizon)
    }

    /// The transaction for whose end the feed waits; nil where no event was applied since it began. For all roles but the API's.
    package func blocker() async throws -> OldestWriter? {
        let rows = try await connection.pipeline([Command(OldestWriter.current), Command(Self.newest)])
        guard let writer = try rows[0].first.map({ row in try OldestWriter(row) }), let since = writer.since,
            let newest: Date = try rows[1].first?.value("applied_at"), newest > since
        else { return nil }
        return writer
    }

    static let statements = [greatest, snapshot, newest, events]

    private static let newest = Statement(
        "event-feed-newest", "select applied_at from timeline order by id desc limit 1")

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
            select \(TimelineRow.selected)
            from \(TimelineRow.source)
            where id > $1::bigint and id <= $2::bigint and environment = $3::text::store_environment
                and ($4::text[] is null or bundle_id = any ($4::text[]))
            order by id
            limit $5::bigint
            """)
}

extension TimelineRow {
    /// The message of `subscriptions.changed` for it.
    package var message: SubscriptionChanged { SubscriptionChanged(self) }
}
