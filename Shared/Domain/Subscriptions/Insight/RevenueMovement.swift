import struct Foundation.Date

/// A change of what a purchase earns a month, in one cell.
package struct RevenueMovement: Sendable, Hashable {
    /// What changed for the purchase.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// It earns for the first time.
        case new
        /// It earns more than before, or the same otherwise: with another product, for example.
        case expansion
        /// It earns less than before.
        case contraction
        /// It earns nothing any more.
        case churn
        /// It earns again, after a time in which it earned nothing.
        case reactivation
    }

    /// When it changed, by Apple's clock.
    package var at: Date
    /// What changed.
    package var kind: Kind
    /// Where it changed. A change of product moves an amount from one cell to another, in two movements of one kind.
    package var cell: RevenueCell
    /// The value after it, less the value before.
    package var value: MonthlyValue
    /// 1 where the purchase earns in the cell since, -1 where it does not any more, 0 where it did and does.
    package var purchases: Int
    /// The transaction whose period began or ended; of several the one that began last.
    package var transactionId: String

    package init(
        at: Date, kind: Kind, cell: RevenueCell, value: MonthlyValue, purchases: Int, transactionId: String
    ) {
        self.at = at
        self.kind = kind
        self.cell = cell
        self.value = value
        self.purchases = purchases
        self.transactionId = transactionId
    }

    /// All movements, past and future, in order of time. The sum of those up to a moment is the value at it, exactly, because each is the
    /// difference of two sums of values that were rounded before.
    ///
    /// A movement's kind compares what the purchase earned in its currency; a change of currency is a contraction in one and an expansion in
    /// the other.
    package static func all(of periods: [RevenuePeriod]) -> [RevenueMovement] {
        let moments = Set(periods.flatMap { [$0.startsAt, $0.endsAt].compactMap(\.self) }).sorted()
        var movements: [RevenueMovement] = []
        var before: [RevenueCell: MonthlyValue] = [:]
        var hasEarned = false
        for moment in moments {
            let running = periods.filter { $0.contains(moment) }
            let after = Dictionary(running.map { ($0.cell, $0.value) }, uniquingKeysWith: +)
            let named =
                running.last { $0.startsAt == moment } ?? periods.last { $0.endsAt == moment } ?? running.last
            for cell in Set(before.keys).union(after.keys).sorted() where before[cell] != after[cell] {
                let kind: Kind =
                    before.isEmpty
                    ? (hasEarned ? .reactivation : .new)
                    : after.isEmpty ? .churn : compared(before, after, in: cell.currency)
                movements.append(
                    RevenueMovement(
                        at: moment, kind: kind, cell: cell,
                        value: (after[cell] ?? .zero) - (before[cell] ?? .zero),
                        purchases: (after[cell] == nil ? 0 : 1) - (before[cell] == nil ? 0 : 1),
                        transactionId: named?.transactionId ?? ""))
            }
            hasEarned = hasEarned || !after.isEmpty
            before = after
        }
        return movements
    }

    private static func compared(
        _ before: [RevenueCell: MonthlyValue], _ after: [RevenueCell: MonthlyValue], in currency: String
    ) -> Kind {
        func sum(_ values: [RevenueCell: MonthlyValue]) -> Int64 {
            values.filter { $0.key.currency == currency }.reduce(0) { $0 + $1.value.amount }
        }
        return sum(after) < sum(before) ? .contraction : .expansion
    }
}
