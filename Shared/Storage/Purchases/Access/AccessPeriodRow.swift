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
    /// Whether there is access at a moment, and until when the purchase gives the product; nil where no end is known.
    func access(at moment: Date) -> (isGiven: Bool, until: Date?) {
        guard let period = first(where: { $0.contains(moment) }) else { return (false, nil) }
        return (true, until(of: period))
    }

    /// The first moment at which the purchase no longer gives the product of a period, whatever the reasons: as the view `access`
    /// computes it of stored periods.
    /// - Returns: nil where no such moment is known.
    func until(of period: AccessPeriodRow) -> Date? {
        let sameProduct = filter { $0.productId == period.productId }.sorted { $0.startsAt < $1.startsAt }
        return sameProduct.reduce(period.endsAt) { until, next in next.startsAt == until ? next.endsAt : until }
    }
}
