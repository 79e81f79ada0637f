import Contracts
import Interpretation
import Records
import StrictJSON
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// One verified notification with its event and the position of its record in Kafka.
public struct LedgerEntry: Sendable {
    /// The verified notification, as the ledger keeps it.
    public var notification: VerifiedNotification
    /// The event of the purchase; nil for a notification that is about no single purchase, such as `TEST`.
    public var event: PurchaseEvent?
    /// Topic, partition and offset of its record.
    public var position: LogPosition
    /// Whether the ledger keeps its payload; false where it names an erased account.
    var keepsPayload = true

    /// - Parameter event: the event of this notification; nil where it is about no single purchase.
    public init(_ notification: VerifiedNotification, event: PurchaseEvent?, position: LogPosition) {
        self.notification = notification
        self.event = event
        self.position = position
    }

    /// Reads the event from the notification.
    /// - Throws: `PayloadFault` where this build cannot read a payload that the verifier passed.
    public init(_ notification: VerifiedNotification, position: LogPosition) throws {
        self.init(notification, event: try PurchaseEvent(notification), position: position)
    }

    var uuid: UUID { notification.notificationUUID }

    /// Apple's id of the customer whose parent withdrew the consent to the use of the app; nil for another type of notification, and
    /// for a customer that was erased. The row of the ledger keeps it, because a withdrawal counts longer than payloads are kept.
    var rescindingCustomer: String? {
        guard keepsPayload, notification.notificationType == "RESCIND_CONSENT" else { return nil }
        return Self.rescindingCustomer(in: notification.decoded)
    }

    /// - Parameter decoded: the decoded payload of a `RESCIND_CONSENT`.
    static func rescindingCustomer(in decoded: [UInt8]) -> String? {
        guard let payload = try? JSONDocument(decoded) else { return nil }
        return payload.root["appData"]?["signedAppTransactionInfo"]?["appTransactionId"]?.string
    }
}

extension LedgerEntry {
    /// Why the database cannot store this entry; nil where it can. Check it before `apply`, because one such value makes the
    /// whole batch fail without naming its entry.
    public var fault: String? {
        if let fault = keyFault { return fault }
        let line = LedgerLine(self, hasAdvanced: false, recordedAt: notification.receivedAt)
        if let fault = LedgerLine.columns.fault(of: line) { return fault }
        if let facts = event?.transaction, let fault = StoredTransaction.facts.fault(of: facts) { return fault }
        if let facts = event?.renewal, let fault = RenewalFacts.columns.fault(of: facts) { return fault }
        return notification.decoded.contains(0) ? "decoded: \(String.nulFault)" : nil
    }

    /// The texts that are part of keys: an index row has a maximum size, and Apple's ids have a few dozen bytes.
    private var keyFault: String? {
        let keys = [
            ("notificationType", notification.notificationType), ("subtype", notification.subtype),
            ("bundleId", notification.bundleId), ("originalTransactionId", notification.originalTransactionId),
            ("transactionId", notification.transactionId),
            ("originalTransactionId", event?.key.originalTransactionId), ("bundleId", event?.bundleId),
            ("transactionId", event?.transaction?.transactionId), ("productId", event?.transaction?.productId),
            ("productId", event?.renewal?.productId), ("appTransactionId", event?.transaction?.appTransactionId),
            ("previousOriginalTransactionId", event?.transaction?.previousOriginalTransactionId),
        ]
        for (name, text) in keys {
            guard let count = text?.utf8.count, count > Self.longestKey else { continue }
            return "\(name) has \(count) bytes, but a key of the database holds at most \(Self.longestKey); "
                + "the whole record is in the dead-letter topic"
        }
        return nil
    }

    /// Bytes. A few of them fit into an index row, at most a third of a page.
    static let longestKey = 512
}

/// The outcome of applying a batch.
public enum ApplyOutcome: Sendable, Equatable {
    /// Committed.
    case applied(Applied)
    /// Nothing was written: the stored offsets of these partitions are not where the batch began. Read the stored offsets and
    /// continue from them.
    case fenced([PositionMove])
}

/// Row counts of one batch, for the metrics.
public struct Applied: Sendable, Equatable {
    /// Notifications new to the ledger.
    public var inserted = 0
    /// Notifications in the ledger already, or twice in the batch; they have no effect.
    public var repeated = 0
    /// Repeated notifications whose content differs from the stored one.
    public var conflicting = 0
    /// Inserted notifications that changed the state of a purchase.
    public var advanced = 0
    /// Inserted notifications whose facts were stored in newer versions already.
    public var stale = 0
    /// Lifecycle gaps that the batch revealed.
    public var gaps = 0
    /// Rows added to the timeline, one for each notification that changed something.
    public var changes = 0
    /// Pairs of the app's accounts found on one Apple account; each pair is reported once.
    public var shared: [SharedAccountNotice] = []

    /// Of an empty batch.
    public init() {}
}
