import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// A stored subscription with its revision.
struct SubscriptionRevision: Sendable {
    var subscription: Subscription
    /// How often the row was written; 0 where there is none.
    var revision: Int64
    /// The notification whose status the known transactions do not explain; nil where they do.
    var unexplainedStatus: UUID?
}

/// All columns of the table `subscription`, in three lists: its own, those of the newest transaction, and those of the newest
/// renewal info.
enum SubscriptionColumns {
    static let own: [Column<SubscriptionRevision>] =
        [
            Column("environment", \.subscription.key.environment),
            Column("original_transaction_id", \.subscription.key.originalTransactionId),
            Column("revision", \.revision),
            Column("bundle_id", \.subscription.bundleId),
            Column("bundle_event_at", \.subscription.bundleIdVersion.signedDate),
            Column("bundle_event_uuid", \.subscription.bundleIdVersion.notificationUUID),
            Column("signed_at", \.subscription.version.signedDate),
            Column("notification_uuid", \.subscription.version.notificationUUID),
            Column("status", \.subscription.status),
            Column("status_transaction_id", \.subscription.statusTransactionId),
            Column(
                "grace_periods", as: JSONText.self, get: { JSONText($0.subscription.graces) },
                set: { $0.subscription.graces = $1?.graces ?? GraceHistory() }),
            Column("unexplained_status_uuid", \.unexplainedStatus),
            // Derived from other columns, for SQL.
            Column(
                "owner_account_token", as: UUID.self,
                get: { $0.subscription.appAccountToken.flatMap { UUID(uuidString: $0) } }, set: { _, _ in }),
        ] + version("status_event_at", "status_event_uuid", \.subscription.statusVersion)
        + version("transaction_event_at", "transaction_event_uuid", \.subscription.transactionVersion)
        + version("renewal_event_at", "renewal_event_uuid", \.subscription.renewalVersion)
    static let transaction = TransactionFacts.columns(signedAt: "transaction_signed_at")
    static let renewal = RenewalFacts.columns

    static let names = "\(own.names()), \(transaction.names()), \(renewal.names())"
    static let selected = "\(own.selected()), \(transaction.selected()), \(renewal.selected())"
    static let count = own.count + transaction.count + renewal.count
    static let placeholders = [
        own.placeholders(), transaction.placeholders(from: own.count + 1),
        renewal.placeholders(from: own.count + transaction.count + 1),
    ].joined(separator: ", ")

    /// `a = given.a, …`
    static func overwriting(by source: String) -> String {
        [own.overwriting(by: source), transaction.overwriting(by: source), renewal.overwriting(by: source)]
            .joined(separator: ", ")
    }

    static func parameters(of rows: [SubscriptionRevision]) -> [any PostgresParameter] {
        own.parameters(of: rows) + transaction.parameters(of: rows.map(\.subscription.transaction))
            + renewal.parameters(of: rows.map(\.subscription.renewal))
    }

    /// - Parameter row: of a statement that selects ``selected`` and nothing before it.
    static func read(_ row: Row) throws -> SubscriptionRevision {
        var known = try own.read(row, into: empty)
        if known.subscription.transactionVersion != nil {
            known.subscription.transaction = try transaction.read(row, into: .empty, from: own.count)
        }
        if known.subscription.renewalVersion != nil {
            known.subscription.renewal = try renewal.read(row, into: .empty, from: own.count + transaction.count)
        }
        return known
    }

    /// The two columns with the version of the event that a status, transaction or renewal info came from; both NULL where
    /// there is none.
    private static func version(
        _ at: StaticString, _ uuid: StaticString,
        _ path: any WritableKeyPath<SubscriptionRevision, EventVersion?> & Sendable
    ) -> [Column<SubscriptionRevision>] {
        [
            Column(
                at, as: Date.self, get: { $0[keyPath: path]?.signedDate },
                set: { row, date in
                    row[keyPath: path] = date.map { EventVersion(signedDate: $0, notificationUUID: .zero) }
                }),
            Column(
                uuid, as: UUID.self, get: { $0[keyPath: path]?.notificationUUID },
                set: { row, uuid in if let uuid { row[keyPath: path]?.notificationUUID = uuid } }),
        ]
    }

    private static let empty = SubscriptionRevision(
        subscription: Subscription(
            key: SubscriptionKey(environment: .production, originalTransactionId: ""), bundleId: "",
            version: EventVersion(signedDate: .distantPast, notificationUUID: .zero)), revision: 0)
}

extension UUID {
    /// A version before all others, which no event of Apple's has.
    static let zero = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
}
