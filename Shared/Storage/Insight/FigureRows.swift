import Contracts
import Postgres
import StrictJSON
import Subscriptions

import struct Foundation.Date

/// A row of `insight_purchase`.
struct PurchaseRow: Sendable {
    var key: SubscriptionKey
    var bundleId: String
    var nextAt: Date?
    var figures: JSONText
    /// An array of Postgres as text, because an array of arrays would need all of one length.
    var dayKeys: String

    init(_ key: SubscriptionKey, bundleId: String, _ figures: PurchaseFigures) {
        (self.key, self.bundleId, nextAt) = (key, bundleId, figures.changesAt)
        self.figures = JSONText(figures)
        let days = Set(figures.sums.keys.compactMap { $0.kind.key(of: Int32(clamping: $0.day)) })
        dayKeys = "{\(days.sorted().map(String.init).joined(separator: ","))}"
    }

    static let columns: [Column<PurchaseRow>] = [
        Column("environment", \.key.environment), Column("original_transaction_id", \.key.originalTransactionId),
        Column("bundle_id", \.bundleId), Column("next_at", \.nextAt), Column("figures", \.figures),
        Column("day_keys", \.dayKeys),
    ]
}

extension JSONText {
    /// As the column `figures` of `insight_purchase` has them: equal figures are equal texts.
    init(_ figures: PurchaseFigures) {
        var json = JSONWriter(capacity: 1024)
        json.beginArray()
        for (key, sum) in figures.sums.sorted(by: { $0.key < $1.key }) {
            json.beginArray()
            json.element(Int64(key.day))
            json.element(key.kind.rawValue)
            json.element(Int64(key.step))
            let cell = key.cell
            for text in [cell.currency, cell.productId, cell.storefront, cell.period, cell.offer] { json.element(text) }
            for number in [sum.amount, sum.revenueCatAmount, Int64(sum.purchases), Int64(sum.count)] {
                json.element(number)
            }
            json.endArray()
        }
        json.endArray()
        self.init(String(decoding: json.bytes, as: UTF8.self))
    }
}

extension PurchaseFigures.Key {
    fileprivate static func < (left: Self, right: Self) -> Bool {
        if left.day != right.day { return left.day < right.day }
        if left.kind != right.kind { return left.kind.rawValue < right.kind.rawValue }
        if left.step != right.step { return left.step < right.step }
        return left.cell < right.cell
    }
}

/// What a purchase adds to a day.
struct FigureRow: Sendable {
    /// Of the purchase among the given ones, from 1.
    var place: Int
    var day: Int
    var kind: String
    var step: Int
    var cell: RevenueCell
    var sum: PurchaseFigures.Sum

    init(place: Int, key: PurchaseFigures.Key, sum: PurchaseFigures.Sum) {
        self.place = place
        (day, kind, step, cell) = (key.day, key.kind.rawValue, key.step, key.cell)
        self.sum = sum
    }

    static let columns: [Column<FigureRow>] = [
        Column("place", \.place), Column("day", \.day), Column("kind", \.kind), Column("step", \.step),
        Column("currency", \.cell.currency), Column("product_id", \.cell.productId),
        Column("storefront", \.cell.storefront), Column("period", \.cell.period), Column("offer", \.cell.offer),
        Column("amount", \.sum.amount), Column("revenuecat_amount", \.sum.revenueCatAmount),
        Column("purchases", \.sum.purchases), Column("count", \.sum.count),
    ]
}

extension PurchaseFigures.Kind {
    /// The key of a purchase in `insight_purchase.day_keys`: the day and the kind. Nil for losses.
    /// - Parameter day: since 1970.
    func key(of day: Int32) -> Int32? {
        let number: Int32? =
            switch self {
            case .charge, .loyalCharge: 0
            case .refund: 1
            case .refundOfCharge: 2
            case .periods, .resubscribedPeriods, .unbrokenPeriods: 3
            case .trialRunning, .trialEnded, .trialPaid: 4
            case .new: 5
            case .expansion: 6
            case .contraction: 7
            case .churn: 8
            case .reactivation: 9
            case .lostInDay, .lostInMonth: nil
            }
        return number.map { day * 10 + $0 }
    }
}

/// A row of `mrr_movement`.
struct MovementRow: Sendable, Hashable {
    var key: SubscriptionKey
    var bundleId: String
    var movement: RevenueMovement

    static let columns: [Column<MovementRow>] = [
        Column("environment", \.key.environment), Column("original_transaction_id", \.key.originalTransactionId),
        Column("bundle_id", \.bundleId), Column("at", \.movement.at),
        Column(
            "kind", as: String.self, get: { $0.movement.kind.rawValue },
            set: { if let kind = $1.flatMap(RevenueMovement.Kind.init(rawValue:)) { $0.movement.kind = kind } }),
        Column("currency", \.movement.cell.currency), Column("product_id", \.movement.cell.productId),
        Column("storefront", \.movement.cell.storefront), Column("period", \.movement.cell.period),
        Column("offer", \.movement.cell.offer), Column("amount", \.movement.value.amount),
        Column("revenuecat_amount", \.movement.value.revenueCatAmount),
        Column(
            "purchases", as: Int16.self, get: { Int16(clamping: $0.movement.purchases) },
            set: { $0.movement.purchases = Int($1 ?? 0) }),
        Column("transaction_id", \.movement.transactionId),
    ]

    static func read(_ row: Row) throws -> MovementRow { try columns.read(row, into: empty) }

    private static let empty = MovementRow(
        key: SubscriptionKey(environment: .production, originalTransactionId: ""), bundleId: "",
        movement: RevenueMovement(
            at: .distantPast, kind: .new, cell: RevenueCell(.empty, period: nil), value: .zero, purchases: 0,
            transactionId: ""))
}

extension AccessPeriod {
    /// Nil for a reason that this build does not know.
    init?(_ row: AccessPeriodRow) {
        guard let reason = Reason(rawValue: row.reason) else { return nil }
        self.init(
            productId: row.productId, startsAt: row.startsAt, endsAt: row.endsAt, reason: reason,
            transactionId: row.transactionId, notificationUUID: row.notificationUUID)
    }
}
