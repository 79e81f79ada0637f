import Contracts
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// One proven notification, what it says about a purchase, and where its record stands in Kafka.
public struct LedgerEntry: Sendable {
    /// The notification.
    public var notification: VerifiedNotification
    /// What it says about a purchase; nil for a TEST, a summary and the like.
    public var event: PurchaseEvent?
    /// Where its record stands.
    public var position: LogPosition

    /// - Parameter event: of this notification.
    public init(_ notification: VerifiedNotification, event: PurchaseEvent?, position: LogPosition) {
        self.notification = notification
        self.event = event
        self.position = position
    }

    var uuid: UUID { notification.notificationUUID }
}

extension LedgerEntry {
    /// Why the database would refuse this entry; nil where it would not. Ask before `apply`, because one refused value
    /// refuses the whole batch without saying whose it was.
    public var fault: String? {
        if let fault = keyFault { return fault }
        let line = LedgerLine(self, hasAdvanced: false, recordedAt: notification.receivedAt)
        if let fault = LedgerLine.columns.fault(of: line) { return fault }
        if let facts = event?.transaction, let fault = StoredTransaction.facts.fault(of: facts) { return fault }
        if let facts = event?.renewal, let fault = RenewalFacts.columns.fault(of: facts) { return fault }
        return notification.decoded.contains(0) ? "decoded: \(String.nulFault)" : nil
    }

    /// Texts that stand in keys: an index takes no long ones, and Apple's have a few dozen bytes.
    private var keyFault: String? {
        let keys = [
            ("notificationType", notification.notificationType), ("subtype", notification.subtype),
            ("bundleId", notification.bundleId), ("originalTransactionId", notification.originalTransactionId),
            ("transactionId", notification.transactionId),
            ("originalTransactionId", event?.key.originalTransactionId), ("bundleId", event?.bundleId),
            ("transactionId", event?.transaction?.transactionId), ("productId", event?.transaction?.productId),
            ("productId", event?.renewal?.productId), ("appTransactionId", event?.transaction?.appTransactionId),
        ]
        for (name, text) in keys {
            guard let count = text?.utf8.count, count > Self.longestKey else { continue }
            return "\(name) has \(count) bytes, but the database keeps at most \(Self.longestKey) of a name; "
                + "the record is among the dead letters, whole"
        }
        return nil
    }

    /// Three of them and more fit into the third of a page that an index takes.
    static let longestKey = 512
}

/// What became of a batch.
public enum ApplyOutcome: Sendable, Equatable {
    /// Committed.
    case applied(Applied)
    /// Nothing was done: these partitions do not stand where the batch began. Read the positions and go there.
    case fenced([PositionMove])
}

/// Counts of one batch, for the metrics.
public struct Applied: Sendable, Equatable {
    /// New in the ledger.
    public var inserted = 0
    /// In the ledger already, or twice in the batch: without effect.
    public var repeated = 0
    /// Of the repeated ones: those whose content differs from what is kept.
    public var conflicting = 0
    /// Of the inserted ones: those which changed a state.
    public var advanced = 0
    /// Of the inserted ones: those which came after something newer.
    public var stale = 0
    /// Lifecycle gaps that the batch made visible.
    public var gaps = 0
    /// Rows of the timeline: notifications that changed something.
    public var changes = 0
    /// Accounts of the app that were found to share an Apple account, each pair once and for all.
    public var shared: [SharedAccountNotice] = []

    /// Nothing yet.
    public init() {}
}
