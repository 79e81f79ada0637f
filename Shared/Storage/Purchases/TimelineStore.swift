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
    /// The account that may use the purchase while it gives access, at the time of reading; nil where none may. Not stored in the
    /// timeline, so that an erasure needs to change nothing here. Lower-case UUID text.
    public var appAccountToken: String?
    /// The transaction that the notification is about, as it is stored at the time of reading; of an event without a notification the
    /// purchase's current one. Nil where the notification is about none.
    public var transaction: SubscriptionChanged.Transaction?
}

/// The events without a notification, as ``SubscriptionChanged/event`` lists them.
extension TimelineRow {
    package static let accessEnded = "ACCESS_ENDED"
    package static let productDurationSet = "PRODUCT_DURATION_SET"
    package static let purchaseTransferred = "PURCHASE_TRANSFERRED"
    package static let withoutNotification = [accessEnded, productDurationSet, purchaseTransferred]
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

    /// The select list of a statement that reads from ``source``. Of several accounts that may use a purchase the owner is named.
    static let selected =
        "\(columns.selected()), id, published_at, coalesce(\(owner), \(anyAccount))::text, \(joinedTransaction.selected())"

    /// How many columns ``selected`` has.
    static let selectedCount = columns.count + 3 + joinedTransaction.count

    /// Two look-ups in place of a sort, because almost every purchase has one account, and it is the owner.
    private static let owner = account("and because = 'owner' limit 1")
    private static let anyAccount = account("order by app_account_token limit 1")

    /// An account that may use the purchase of a row.
    private static func account(_ clause: String) -> String {
        """
        (
            select app_account_token
            from purchase_account
            where purchase_account.environment = timeline.environment
                and purchase_account.original_transaction_id = timeline.original_transaction_id
                and purchase_account.bundle_id = timeline.bundle_id and may_use \(clause)
        )
        """
    }

    /// The `from` clause of a statement that reads the timeline: each row with the transaction that it is about, by index look-ups.
    static let source = """
        timeline
        left join lateral (
            select \(joinedTransaction.map { "\($0.name.dropFirst(joined.count)) as \($0.name)" }.joined(separator: ", "))
            from transaction
            where transaction.environment = timeline.environment
                and transaction.transaction_id = (
                    select known.transaction_id
                    from notification known
                    where known.notification_uuid = timeline.notification_uuid
                    union all
                    select held.transaction_id
                    from subscription held
                    where held.environment = timeline.environment
                        and held.original_transaction_id = timeline.original_transaction_id
                    limit 1
                )
            offset 0
        ) as about on true
        """

    private static let joined = "joined_"

    /// The columns of `transaction` that a message has.
    private static let joinedTransaction: [Column<SubscriptionChanged.Transaction>] = [
        Column("joined_transaction_id", \.transactionId),
        Column("joined_product_id", \.productId),
        Column("joined_product_type", \.type),
        Column("joined_purchased_at", \.purchaseDate),
        Column("joined_expires_at", \.expiresDate),
        Column("joined_quantity", \.quantity),
        Column("joined_price_milliunits", \.price),
        Column("joined_currency", \.currency),
        Column("joined_storefront", \.storefront),
        Column("joined_ownership", \.inAppOwnershipType),
        Column("joined_offer_type", \.offerType),
        Column("joined_offer_id", \.offerIdentifier),
        Column("joined_offer_discount_type", \.offerDiscountType),
        Column("joined_revoked_at", \.revocationDate),
    ]

    /// - Parameter row: of a statement that selects ``selected``.
    static func read(_ row: Row) throws -> TimelineRow {
        var change = try columns.read(row, into: empty)
        change.id = try row.value(at: columns.count)
        change.publishedAt = try row.optional(at: columns.count + 1)
        change.appAccountToken = try row.optional(at: columns.count + 2)
        let transaction = try joinedTransaction.read(
            row, into: SubscriptionChanged.Transaction(transactionId: "", productId: "", type: ""),
            from: columns.count + 3)
        if !transaction.transactionId.isEmpty { change.transaction = transaction }
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
            select \(TimelineRow.selected)
            from \(TimelineRow.source)
            order by id desc
            limit $1::bigint
            """)

    static let ofPurchase = Statement(
        "timeline-of-purchase",
        unsafeSQL: """
            select \(TimelineRow.selected)
            from \(TimelineRow.source)
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
