import Contracts
import Records
import Storage
import Subscriptions

extension PurchaseEvent {
    /// What a notification of the ledger said of its purchase; nil where it is about none, where what it said was
    /// dropped by age, or where this build cannot read it.
    /// - Parameter decoded: its payload.
    package init?(_ line: LedgerLine, decoded: String?) {
        guard let decoded else { return nil }
        let notification = VerifiedNotification(
            notificationUUID: line.notificationUUID, notificationType: line.notificationType, subtype: line.subtype,
            environment: line.environment, bundleId: line.bundleId, appAppleId: nil,
            originalTransactionId: line.originalTransactionId, transactionId: line.transactionId,
            signedDate: line.signedDate, receivedAt: line.receivedAt,
            source: NotificationSource(rawValue: line.source) ?? .replay, traceparent: nil,
            decoded: Array(decoded.utf8), signedPayload: [])
        let entry = try? LedgerEntry(
            notification, position: LogPosition(topic: Topics.unique.name, partition: 0, offset: 0))
        guard let event = entry?.event else { return nil }
        self = event
    }
}
