import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// A row of the ledger without its payload.
public struct LedgerLine: Sendable, Equatable {
    /// Apple's id of the notification; the same in every delivery of it.
    public var notificationUUID: UUID
    /// Apple's `notificationType`, raw, so that an unknown one is kept.
    public var notificationType = ""
    /// Apple's `subtype`, raw; nil where the notification has none.
    public var subtype: String?
    /// Apple's environment of the notification.
    public var environment: StoreEnvironment
    /// The app's bundle identifier.
    public var bundleId = ""
    /// Apple's id of the app; nil in the sandbox.
    public var appAppleId: Int64?
    /// The purchase that the notification is about; nil where it is about none, such as `TEST`.
    public var originalTransactionId: String?
    /// The id of the transaction in the notification; nil where it has none.
    public var transactionId: String?
    /// When Apple signed it; without `signedDate`, the date of its transaction or renewal info, else of its arrival.
    public var signedDate: Date?
    /// When ingest received it.
    public var receivedAt: Date
    /// When it was committed to the ledger.
    public var recordedAt: Date
    /// How it arrived: a raw value of `NotificationSource`.
    public var source = ""
    /// Whether it changed the state; false where newer versions of all its facts were stored already.
    public var hasAdvanced = false
    /// Number of other contents that arrived under the same uuid.
    public var contentConflicts = 0
    /// Apple's status (1 active … 5 revoked); nil where the notification has none.
    public var status: Int?
    /// Apple's id of the customer whose parent withdrew the consent (`RESCIND_CONSENT`); nil for other types.
    public var appTransactionId: String?
    var partition: Int32 = 0
    var offset: Int64 = 0
    var isLifecycleEvent = false
    var purchasedAt: Date?
    var expiresAt: Date?
    var isAutoRenewing: Bool?
    var isFailingToRenew: Bool?
    var isRevoked = false
    var hasAddedSeats = false
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
        Column("app_transaction_id", \.appTransactionId),
        Column("kafka_partition", \.partition),
        Column("kafka_offset", \.offset),
        Column("is_lifecycle_event", \.isLifecycleEvent),
        Column("purchased_at", \.purchasedAt),
        Column("expires_at", \.expiresAt),
        Column("is_auto_renewing", \.isAutoRenewing),
        Column("is_failing_to_renew", \.isFailingToRenew),
        Column("is_revoked", \.isRevoked),
        Column("has_added_seats", \.hasAddedSeats),
    ]

    /// - Parameter row: of a statement that selects ``columns`` first.
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
            // A transaction that the event could not use is not counted as one of the purchase.
            transactionId: event == nil ? notification.transactionId : event?.transaction?.transactionId,
            signedDate: event?.version.signedDate ?? notification.signedDate, receivedAt: notification.receivedAt,
            recordedAt: recordedAt, source: notification.source.rawValue, hasAdvanced: hasAdvanced,
            status: event?.status, appTransactionId: entry.rescindingCustomer, partition: entry.position.partition,
            offset: entry.position.offset,
            isLifecycleEvent: event?.isLifecycleEvent ?? false, purchasedAt: event?.transaction?.purchaseDate,
            expiresAt: event?.transaction?.expiresDate, isAutoRenewing: event?.renewal?.autoRenewStatus,
            isFailingToRenew: event?.renewal?.isFailingToRenew,
            isRevoked: event?.transaction?.revocationDate != nil,
            hasAddedSeats: event?.transaction?.additionalTransactionReason != nil)
    }

    /// The event with the fields that gap detection, cancellations, price consents and reasons of expiry need; nil where the
    /// notification is about no purchase. Transaction and renewal info hold only the dates and flags of the columns. A rule
    /// that needs another field needs another column; tests that compare with events in memory fail without it.
    var event: PurchaseEvent? {
        guard let originalTransactionId, let signedDate else { return nil }
        return PurchaseEvent(
            key: SubscriptionKey(environment: environment, originalTransactionId: originalTransactionId),
            version: EventVersion(signedDate: signedDate, notificationUUID: notificationUUID), bundleId: bundleId,
            notificationType: notificationType, subtype: subtype, status: status,
            transaction: transactionId.map { id in
                var facts = TransactionFacts(
                    transactionId: id, productId: "", productType: "", purchaseDate: purchasedAt,
                    expiresDate: expiresAt, signedDate: signedDate)
                facts.revocationDate = isRevoked ? signedDate : nil
                facts.additionalTransactionReason = hasAddedSeats ? "" : nil
                return facts
            },
            renewal: RenewalFacts(
                autoRenewStatus: isAutoRenewing, isInBillingRetry: isFailingToRenew, signedDate: signedDate))
    }
}
