import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// One proven notification, as the ledger keeps it.
public struct LedgerEntry: Sendable {
    /// Apple's id; the same in every repetition.
    public var notificationUUID: UUID
    /// Raw, so that an unknown one is kept.
    public var notificationType: String
    /// Apple's word, raw; nil where there is none.
    public var subtype: String?
    /// Where the purchase was made.
    public var environment: StoreEnvironment
    /// The app, by its bundle identifier.
    public var bundleId: String
    /// The app, by Apple's number; the sandbox has none.
    public var appAppleId: Int64?
    /// The purchase it is about; nil for a TEST and the like.
    public var originalTransactionId: String?
    /// The transaction it holds, if any.
    public var transactionId: String?
    /// By Apple's clock; nil where Apple gave none.
    public var signedDate: Date?
    /// When ingest took it.
    public var receivedAt: Date
    /// How it came to us.
    public var source: NotificationSource
    /// The payload as JSON text, with what is signed inside of it decoded in its place.
    public var decodedPayload: String
    /// The signed original, byte for byte.
    public var signedPayload: [UInt8]
    /// What it says about a purchase; nil for a TEST, a summary and the like.
    public var news: PurchaseEvent?
    /// Where its record stands in the log.
    public var position: LogPosition
    /// W3C trace context of its record, which the changes it causes carry on; valid, or nil.
    public var traceparent: String?

    /// All fields.
    public init(
        notificationUUID: UUID, notificationType: String, subtype: String?, environment: StoreEnvironment,
        bundleId: String, appAppleId: Int64?, originalTransactionId: String?, transactionId: String?,
        signedDate: Date?, receivedAt: Date, source: NotificationSource, decodedPayload: String,
        signedPayload: [UInt8], news: PurchaseEvent?, position: LogPosition
    ) {
        self.notificationUUID = notificationUUID
        self.notificationType = notificationType
        self.subtype = subtype
        self.environment = environment
        self.bundleId = bundleId
        self.appAppleId = appAppleId
        self.originalTransactionId = originalTransactionId
        self.transactionId = transactionId
        self.signedDate = signedDate
        self.receivedAt = receivedAt
        self.source = source
        self.decodedPayload = decodedPayload
        self.signedPayload = signedPayload
        self.news = news
        self.position = position
    }
}

extension LedgerEntry {
    /// Why the database would refuse this entry; nil where it would not. Ask before `apply`, because one refused value
    /// refuses the whole batch without saying whose it was.
    public var fault: String? {
        if let fault = keyFault { return fault }
        do throws(PostgresError) {
            for parameter in storedValues {
                var bytes: [UInt8] = []
                _ = try parameter.write(into: &bytes)
            }
            return nil
        } catch {
            return error.message
        }
    }

    /// Texts that stand in keys: an index takes no long ones, and Apple's have a few dozen bytes.
    private var keyFault: String? {
        let keys = [
            ("notificationType", notificationType), ("subtype", subtype), ("bundleId", bundleId),
            ("originalTransactionId", originalTransactionId), ("transactionId", transactionId),
            ("originalTransactionId", news?.key.originalTransactionId), ("bundleId", news?.bundleId),
            ("transactionId", news?.transaction?.transactionId),
            ("appAccountToken", news?.transaction?.appAccountToken),
            ("appTransactionId", news?.transaction?.appTransactionId),
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

    private var storedValues: [any PostgresParameter] {
        var values: [any PostgresParameter] = [
            notificationType, subtype, bundleId, originalTransactionId, transactionId, signedDate, receivedAt,
            decodedPayload,
        ]
        if let news {
            values +=
                [news.key.originalTransactionId, news.bundleId, news.version.signedDate] as [any PostgresParameter]
            values += TransactionColumns.parameters([news.transaction])
            values += RenewalColumns.parameters([news.renewal])
        }
        return values
    }
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
    /// Steps of lives that nobody told, as far as the batch made them visible.
    public var skipped = 0
    /// Rows of the timeline that tell of changed facts.
    public var changes = 0
    /// Accounts of the app that were found to share an Apple account, each pair once and for all.
    public var shared: [SharedAccountNotice] = []

    /// Nothing yet.
    public init() {}
}
