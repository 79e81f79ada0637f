import Contracts
import Foundation
import Records
import Storage
import Subscriptions

/// Tests make up entries field by field.
extension LedgerEntry {
    /// An entry of a made-up notification.
    public init(
        notificationUUID: UUID, notificationType: String, subtype: String?, environment: StoreEnvironment,
        bundleId: String, appAppleId: Int64?, originalTransactionId: String?, transactionId: String?,
        signedDate: Date?, receivedAt: Date, source: NotificationSource, decodedPayload: String,
        signedPayload: [UInt8], event: PurchaseEvent?, position: LogPosition
    ) {
        self.init(
            VerifiedNotification(
                notificationUUID: notificationUUID, notificationType: notificationType, subtype: subtype,
                environment: environment, bundleId: bundleId, appAppleId: appAppleId,
                originalTransactionId: originalTransactionId, transactionId: transactionId, signedDate: signedDate,
                receivedAt: receivedAt, source: source, traceparent: nil, decoded: Array(decodedPayload.utf8),
                signedPayload: signedPayload),
            event: event, position: position)
    }

    /// The field of the notification.
    public var notificationUUID: UUID {
        get { notification.notificationUUID }
        set { notification.notificationUUID = newValue }
    }
    /// The field of the notification.
    public var notificationType: String {
        get { notification.notificationType }
        set { notification.notificationType = newValue }
    }
    /// The field of the notification.
    public var subtype: String? {
        get { notification.subtype }
        set { notification.subtype = newValue }
    }
    /// The field of the notification.
    public var environment: StoreEnvironment {
        get { notification.environment }
        set { notification.environment = newValue }
    }
    /// The field of the notification.
    public var bundleId: String {
        get { notification.bundleId }
        set { notification.bundleId = newValue }
    }
    /// The field of the notification.
    public var originalTransactionId: String? {
        get { notification.originalTransactionId }
        set { notification.originalTransactionId = newValue }
    }
    /// The field of the notification.
    public var transactionId: String? {
        get { notification.transactionId }
        set { notification.transactionId = newValue }
    }
    /// The field of the notification.
    public var signedDate: Date? {
        get { notification.signedDate }
        set { notification.signedDate = newValue }
    }
    /// The field of the notification.
    public var receivedAt: Date {
        get { notification.receivedAt }
        set { notification.receivedAt = newValue }
    }
    /// The field of the notification.
    public var decodedPayload: String {
        get { String(decoding: notification.decoded, as: UTF8.self) }
        set { notification.decoded = Array(newValue.utf8) }
    }
    /// The field of the notification.
    public var signedPayload: [UInt8] {
        get throws { try notification.signedPayload }
    }
    /// The field of the notification.
    public var traceparent: String? {
        get { notification.traceparent }
        set { notification.traceparent = newValue }
    }
}
