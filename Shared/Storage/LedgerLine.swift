import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// A row of the ledger without its payload.
public struct LedgerLine: Sendable, Equatable {
    /// Apple's id; the same in every repetition.
    public var notificationUUID: UUID
    /// Apple's word, raw, so that an unknown one is kept.
    public var notificationType = ""
    /// Apple's word, raw; nil where there is none.
    public var subtype: String?
    /// Where the purchase was made.
    public var environment: StoreEnvironment
    /// The app, by its bundle identifier.
    public var bundleId = ""
    /// The app, by Apple's number; the sandbox has none.
    public var appAppleId: Int64?
    /// The purchase it is about; nil for a TEST and the like.
    public var originalTransactionId: String?
    /// The transaction it holds, if any.
    public var transactionId: String?
    /// By Apple's clock; where Apple gave no date, that of its newest part, else its arrival.
    public var signedDate: Date?
    /// When ingest took it.
    public var receivedAt: Date
    /// When it was committed to the ledger.
    public var recordedAt: Date
    /// How it came to us.
    public var source = ""
    /// False where something newer was known already.
    public var hasAdvanced = false
    /// How often the same uuid came again with other content.
    public var contentConflicts = 0
    /// Apple's status, if it holds one.
    public var status: Int?
    var partition: Int32 = 0
    var offset: Int64 = 0
    var isLifecycleEvent = false
    var purchasedAt: Date?
    var expiresAt: Date?
    var isAutoRenewing: Bool?
    var isInBillingRetry: Bool?
}

extension LedgerLine {
    static let columns: [Column<LedgerLine>] = [
        Column("notification_uuid", \.notificationUUID),
        Column("notification_type", \.notificationType),
        Column("subtype", \.subtype),
        Column("environment", \.environment),
        Column("bundle_id", \.bundleId),
        Column("app_apple_id", \.appAppleId),
        Column("original_transaction_id", \.originalTransactionId),
        Column("transaction_id", \.transactionId),
        Column("signed_at", \.signedDate),
        Column("received_at", \.receivedAt),
        Column("recorded_at", \.recordedAt),
        Column("source", \.source),
        Column("has_advanced", \.hasAdvanced),
        Column(
            "content_conflicts", as: Int32.self, get: { Int32(clamping: $0.contentConflicts) },
            set: { $0.contentConflicts = Int($1 ?? 0) }),
        Column(
            "status", as: Int16.self, get: { $0.status.map { Int16(clamping: $0) } },
            set: { $0.status = $1.map { Int($0) } }),
        Column("log_partition", \.partition),
        Column("log_offset", \.offset),
        Column("is_lifecycle_event", \.isLifecycleEvent),
        Column("purchased_at", \.purchasedAt),
        Column("expires_at", \.expiresAt),
        Column("is_auto_renewing", \.isAutoRenewing),
        Column("is_in_billing_retry", \.isInBillingRetry),
    ]

    /// Of a statement that selects ``columns`` first.
    static func read(_ row: Row) throws -> LedgerLine { try columns.read(row, into: empty) }

    private static let empty = LedgerLine(
        notificationUUID: .zero, environment: .production, receivedAt: .distantPast, recordedAt: .distantPast)

    init(_ entry: LedgerEntry, hasAdvanced: Bool, recordedAt: Date) {
        let (notification, event) = (entry.notification, entry.event)
        self.init(
            notificationUUID: notification.notificationUUID, notificationType: notification.notificationType,
            subtype: notification.subtype, environment: notification.environment,
            bundleId: entry.event?.bundleId ?? notification.bundleId,
            appAppleId: notification.appAppleId, originalTransactionId: notification.originalTransactionId,
            // What cannot be made use of is no transaction of the purchase.
            transactionId: event == nil ? notification.transactionId : event?.transaction?.transactionId,
            signedDate: event?.version.signedDate ?? notification.signedDate, receivedAt: notification.receivedAt,
            recordedAt: recordedAt, source: notification.source.rawValue, hasAdvanced: hasAdvanced,
            status: event?.status, partition: entry.position.partition, offset: entry.position.offset,
            isLifecycleEvent: event?.isLifecycleEvent ?? false, purchasedAt: event?.transaction?.purchaseDate,
            expiresAt: event?.transaction?.expiresDate, isAutoRenewing: event?.renewal?.autoRenewStatus,
            isInBillingRetry: event?.renewal?.isInBillingRetry)
    }

    /// What the search for gaps and the questions about cancellations, prices and reasons of expiry read of it; nil where
    /// it is about no purchase. Of transaction and renewal info only the dates and flags are there that these need: one
    /// that needs more adds a column, and the tests that compare with the events in memory say so.
    var event: PurchaseEvent? {
        guard let originalTransactionId, let signedDate else { return nil }
        return PurchaseEvent(
            key: SubscriptionKey(environment: environment, originalTransactionId: originalTransactionId),
            version: EventVersion(signedDate: signedDate, notificationUUID: notificationUUID), bundleId: bundleId,
            notificationType: notificationType, subtype: subtype, status: status,
            transaction: transactionId.map { id in
                TransactionFacts(
                    transactionId: id, productId: "", productType: "", purchaseDate: purchasedAt,
                    expiresDate: expiresAt, signedDate: signedDate)
            },
            renewal: RenewalFacts(
                autoRenewStatus: isAutoRenewing, isInBillingRetry: isInBillingRetry, signedDate: signedDate))
    }
}
