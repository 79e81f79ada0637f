import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// One change of one purchase.
public struct TimelineRow: Sendable, Equatable {
    /// Rises, but rows do not commit in its order.
    public var id: Int64
    /// The purchase.
    public var key: SubscriptionKey
    /// The app, by its bundle identifier.
    public var bundleId: String
    /// Which fact, by Apple's name for it.
    public var fact: String
    /// The text before; nil where the fact was unknown.
    public var from: String?
    /// The text after.
    public var to: String?
    /// The transaction it is about, where that is not the purchase's current one.
    public var transactionId: String?
    /// The notification that told.
    public var notificationUUID: UUID
    /// By Apple's clock.
    public var occurredAt: Date
    /// By ours.
    public var learnedAt: Date
    /// When it was put on the log; nil while it waits.
    public var publishedAt: Date?
}

/// What became of purchases, change by change. Written by `LedgerStore.apply` only.
public struct TimelineStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// The latest changes of all purchases, newest first.
    public func newest(_ limit: Int) async throws -> [TimelineRow] {
        try await connection.execute(Self.newest, Int64(limit)).map { row in try Self.row(row) }
    }

    /// All changes of one purchase, in the order in which we learned them.
    public func changes(of key: SubscriptionKey) async throws -> [TimelineRow] {
        try await connection.execute(Self.changes, key.environment.rawValue, key.originalTransactionId)
            .map { row in try Self.row(row) }
    }

    private static func row(_ row: Row) throws -> TimelineRow {
        TimelineRow(
            id: try row.value("id"), key: try SubscriptionStore.key(row), bundleId: try row.value("bundle_id"),
            fact: try row.value("fact"), from: try row.optional("changed_from"), to: try row.optional("changed_to"),
            transactionId: try row.optional("transaction_id"), notificationUUID: try row.value("notification_uuid"),
            occurredAt: try row.value("occurred_at"), learnedAt: try row.value("learned_at"),
            publishedAt: try row.optional("published_at"))
    }

    static let newest = Statement(
        "timeline-newest",
        """
        select id, environment::text as environment, original_transaction_id, bundle_id, fact, changed_from, changed_to,
            transaction_id, notification_uuid, occurred_at, learned_at, published_at
        from timeline
        order by id desc
        limit $1::bigint
        """)

    static let changes = Statement(
        "timeline-changes",
        """
        select id, environment::text as environment, original_transaction_id, bundle_id, fact, changed_from, changed_to,
            transaction_id, notification_uuid, occurred_at, learned_at, published_at
        from timeline
        where environment = $1::text::store_environment and original_transaction_id = $2::text
        order by id
        """)

    static let insert = Statement(
        "timeline-insert",
        """
        insert into timeline (
            occurred_at, learned_at, notification_uuid, environment, original_transaction_id, bundle_id, fact,
            changed_from, changed_to, traceparent)
        select occurred_at, $1::timestamptz, notification_uuid, environment::store_environment,
            original_transaction_id, bundle_id, fact, changed_from, changed_to, traceparent
        from unnest(
            $2::timestamptz[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
            $10::text[]
        ) with ordinality as given (
            occurred_at, notification_uuid, environment, original_transaction_id, bundle_id, fact, changed_from,
            changed_to, traceparent, place)
        order by place
        """)

    static func command(inserting changes: [NewsChange], learnedAt: Date) -> Command {
        Command(
            insert, learnedAt, changes.map(\.version.signedDate), changes.map(\.version.notificationUUID),
            changes.map(\.key.environment.rawValue), changes.map(\.key.originalTransactionId),
            changes.map(\.bundleId), changes.map(\.change.fact.rawValue), changes.map(\.change.from),
            changes.map(\.change.to), changes.map(\.traceparent))
    }
}

extension TimelineStore {
    /// A row for each that is now the version we hold of its transaction: an older version tells nothing.
    static let insertEarlier = Statement(
        "timeline-insert-earlier",
        """
        insert into timeline (
            occurred_at, learned_at, notification_uuid, environment, original_transaction_id, bundle_id, fact,
            changed_to, transaction_id, traceparent)
        select given.occurred_at, $1::timestamptz, given.notification_uuid, held.environment,
            held.original_transaction_id, given.bundle_id, given.fact, given.changed_to, held.transaction_id,
            given.traceparent
        from unnest(
            $2::timestamptz[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[]
        ) with ordinality as given (
            occurred_at, notification_uuid, environment, bundle_id, fact, changed_to, transaction_id, traceparent,
            place)
        join transaction held
            on held.environment = given.environment::store_environment and held.transaction_id = given.transaction_id
            and held.notification_uuid = given.notification_uuid
        order by place
        """)

    static func command(inserting earlier: [EarlierNews], learnedAt: Date) -> Command {
        Command(
            insertEarlier, learnedAt, earlier.map(\.news.version.signedDate),
            earlier.map(\.news.version.notificationUUID), earlier.map(\.news.key.environment.rawValue),
            earlier.map(\.news.bundleId), earlier.map(\.transaction.fact.rawValue), earlier.map(\.transaction.text),
            earlier.map(\.transaction.transactionId), earlier.map(\.traceparent))
    }
}

/// A change and the news that told.
///
/// Of the news only what its row needs: there are several for each notification, and whole ones are long to copy.
struct NewsChange: Sendable {
    var version: EventVersion
    var key: SubscriptionKey
    var bundleId: String
    var change: Change
    /// W3C trace context of the notification.
    var traceparent: String?
}

/// PurchaseEvent of a transaction that is not the current one.
struct EarlierNews: Sendable {
    var news: PurchaseEvent
    var transaction: EarlierTransaction
    /// W3C trace context of the notification.
    var traceparent: String?
}
