import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// A row of `access_period`.
struct AccessPeriodRow: Sendable, Hashable {
    var key: SubscriptionKey
    var bundleId: String
    var productId: String
    var startsAt: Date
    /// The first moment without access; nil where access has no end.
    var endsAt: Date?
    var reason: String
    var transactionId: String?
    var notificationUUID: UUID?

    /// All columns except the period, whose two properties are one column in SQL.
    static let columns: [Column<AccessPeriodRow>] = [
        Column("environment", \.key.environment),
        Column("original_transaction_id", \.key.originalTransactionId),
        Column("bundle_id", \.bundleId),
        Column("product_id", \.productId),
        Column("reason", \.reason),
        Column("transaction_id", \.transactionId),
        Column("notification_uuid", \.notificationUUID),
    ]
    static let bounds: [Column<AccessPeriodRow>] = [Column("starts_at", \.startsAt), Column("ends_at", \.endsAt)]
    static let selected = "\(columns.selected()), lower(period) as starts_at, upper(period) as ends_at"

    /// - Parameter row: of a statement that selects ``selected`` first.
    static func read(_ row: Row) throws -> AccessPeriodRow {
        try (columns + bounds).read(row, into: empty)
    }

    private static let empty = AccessPeriodRow(
        key: SubscriptionKey(environment: .production, originalTransactionId: ""), bundleId: "", productId: "",
        startsAt: .distantPast, reason: "")
}

extension AccessPeriodRow {
    /// A period with its dates at the precision of Postgres.
    init(_ period: AccessPeriod, of subscription: Subscription) throws {
        self.init(
            key: subscription.key, bundleId: subscription.bundleId, productId: period.productId,
            startsAt: try period.startsAt.atPostgresPrecision(), endsAt: try period.endsAt?.atPostgresPrecision(),
            reason: period.reason.rawValue, transactionId: period.transactionId,
            notificationUUID: period.notificationUUID)
    }

    func contains(_ moment: Date) -> Bool { startsAt <= moment && endsAt.map { moment < $0 } ?? true }
}

extension Sequence<AccessPeriodRow> {
    /// Whether there is access at a moment, and its end after all adjoining periods; nil where it has no end.
    func access(at moment: Date) -> (isGiven: Bool, until: Date?) {
        let ahead = sorted { $0.startsAt < $1.startsAt }
        guard let first = ahead.firstIndex(where: { $0.contains(moment) }) else { return (false, nil) }
        var until = ahead[first].endsAt
        for next in ahead[first...].dropFirst() where next.startsAt == until { until = next.endsAt }
        return (true, until)
    }
}
