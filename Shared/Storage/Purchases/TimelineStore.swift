import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// The changes of one purchase by one notification.
public struct TimelineRow: Sendable, Equatable {
    /// Increases with each row, but rows do not commit in its order.
    public var id: Int64
    /// The purchase that changed.
    public var key: SubscriptionKey
    /// The app's bundle identifier.
    public var bundleId: String
    /// Apple's type, or type and subtype.
    public var event: String
    /// Every fact of the purchase that the notification changed.
    public var changes: [FactChange]
    /// The state of the purchase after the notification.
    public var state: SubscriptionChanged.State
    /// The revision of the purchase after the notification.
    public var revision: Int64
    /// The notification that changed the purchase.
    public var notificationUUID: UUID
    /// When Apple signed it.
    public var occurredAt: Date
    /// When it was applied, by the clock of the state-updater.
    public var appliedAt: Date
    /// When its message was published; nil until then.
    public var publishedAt: Date?
    /// W3C trace context of the notification; nil once published.
    public var traceparent: String?
}

extension TimelineRow {
    /// All columns except the id, which the database assigns, and those that the publisher writes.
    static let columns: [Column<TimelineRow>] = [
        Column("occurred_at", \.occurredAt),
        Column("applied_at", \.appliedAt),
        Column("revision", \.revision),
        Column("status", \.state.status),
        Column("access_until", \.state.accessUntil),
        Column("notification_uuid", \.notificationUUID),
        Column("environment", \.key.environment),
        Column("has_access", \.state.hasAccess),
        Column("is_auto_renewing", \.state.isAutoRenewing),
        Column("original_transaction_id", \.key.originalTransactionId),
        Column("bundle_id", \.bundleId),
        Column("event", \.event),
        Column("product_id", \.state.productId),
        Column("traceparent", \.traceparent),
        Column(
            "changes", as: ChangesText.self, get: { ChangesText(changes: $0.changes) },
            set: { $0.changes = $1?.changes ?? [] }),
    ]

    /// - Parameter row: of a statement that selects ``columns``, then `id` and `published_at`.
    static func read(_ row: Row) throws -> TimelineRow {
        var change = try columns.read(row, into: empty)
        change.id = try row.value(at: columns.count)
        change.publishedAt = try row.optional(at: columns.count + 1)
        return change
    }

    private static let empty = TimelineRow(
        id: 0, key: SubscriptionKey(environment: .production, originalTransactionId: ""), bundleId: "", event: "",
        changes: [],
        state: SubscriptionChanged.State(
            status: nil, productId: nil, hasAccess: false, accessUntil: nil, isAutoRenewing: nil),
        revision: 0, notificationUUID: .zero, occurredAt: .distantPast, appliedAt: .distantPast)
}

/// Changes as JSON, for the column `changes`.
private struct ChangesText: ColumnValue {
    var changes: [FactChange]

    static var sqlType: String { "json" }
    static var sqlCast: String? { "jsonb" }
    var stored: JSONText { JSONText(String(decoding: FactChange.json(changes), as: UTF8.self)) }

    init(changes: [FactChange]) { self.changes = changes }

    init(stored: JSONText) throws {
        guard let changes = FactChange.changes(json: Array(stored.text.utf8)) else {
            throw UnreadableChanges(text: stored.text)
        }
        self.changes = changes
    }
}

/// The column `changes` of the timeline holds no array of changes: another program wrote it.
struct UnreadableChanges: Error, CustomStringConvertible {
    let text: String
    var description: String {
        "a row of the timeline has changes that cannot be read (“\(text.prefix(80))”): only the state-updater may write them"
    }
}

/// Reads the timeline: the changes of purchases, notification by notification. Only `LedgerStore.apply` writes it.
public struct TimelineStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// The latest rows of all purchases, newest first.
    public func newest(_ limit: Int) async throws -> [TimelineRow] {
        try await connection.execute(Self.newest, Int64(limit)).map { row in try TimelineRow.read(row) }
    }

    /// All rows of one purchase, in the order in which they were applied.
    public func rows(of key: SubscriptionKey) async throws -> [TimelineRow] {
        try await connection.execute(Self.ofPurchase, key.environment.rawValue, key.originalTransactionId)
            .map { row in try TimelineRow.read(row) }
    }

    static let newest = Statement(
        "timeline-newest",
        unsafeSQL: """
            select \(TimelineRow.columns.selected()), id, published_at
            from timeline
            order by id desc
            limit $1::bigint
            """)

    static let ofPurchase = Statement(
        "timeline-of-purchase",
        unsafeSQL: """
            select \(TimelineRow.columns.selected()), id, published_at
            from timeline
            where environment = $1::text::store_environment and original_transaction_id = $2::text
            order by id
            """)

    /// Inserts rows in the order of the batch, so that the ids of one purchase increase with its revisions.
    static let insert = Statement(
        "timeline-insert",
        unsafeSQL: """
            insert into timeline (\(TimelineRow.columns.names()))
            select \(TimelineRow.columns.names())
            from unnest(\(TimelineRow.columns.placeholders()))
                with ordinality as given (\(TimelineRow.columns.names()), place)
            order by place
            """)

    static func command(inserting rows: [TimelineRow]) -> Command {
        Command(insert, all: TimelineRow.columns.parameters(of: rows))
    }
}
