import Foundation
import Subscriptions

extension FigureReportStore.Table {
    /// The purchases and amounts at the start and lost since, of one row and cell.
    private struct Churn {
        var purchases: Int64 = 0
        var ended: Int64 = 0
        var start: Int64 = 0
        /// Churn and contraction, negative.
        var less: Int64 = 0
        /// Expansion and reactivation.
        var more: Int64 = 0

        mutating func add(_ other: Churn) {
            purchases += other.purchases
            ended += other.ended
            start += other.start
            less += other.less
            more += other.more
        }

        /// Nil where an amount has no conversion.
        func converted(by rate: Int64) -> Churn? {
            guard let start = ExchangeRate.converted(start, by: rate),
                let less = ExchangeRate.converted(less, by: rate), let more = ExchangeRate.converted(more, by: rate)
            else { return nil }
            return Churn(purchases: purchases, ended: ended, start: start, less: less, more: more)
        }
    }

    /// - Parameters:
    ///   - cut: rows whose losses are in `lost`; those of the others are among the sums.
    ///   - lostInAny: the same where currencies are not told apart.
    ///   - rates: by which amounts are added up in one currency, all by those of the day before the row, so that rates change no share; nil:
    ///     each is in its own.
    mutating func addChurn(
        _ sums: [FigureReportStore.Sum], cut: [Range<Date>], lost: [FigureReportStore.Sum],
        lostInAny: [FigureReportStore.Sum] = [], rates: FigureReportStore.Rates? = nil
    ) throws {
        let (spans, cut, lost, lostInAny) = (self.spans, Set(cut), grouped(lost), grouped(lostInAny))
        let dimensions = query.dimensions.reduce(into: RevenueDimensions()) { $0.formUnion($1.ofCell) }
        let currency = Self.place(of: .currency)
        let currencies = Set(sums.map { $0.cell[currency] })
        // Rows in which a customer who changed the currency is not lost, because all of them are one.
        let areWhole = spans.map { span in
            guard let rates else { return false }
            return currencies.allSatisfy { rates.rate(of: $0, before: span.days.lowerBound) != nil }
        }
        var (open, churns): (Int, [Cell: Churn]) = (0, [:])
        func lostOfOpen() -> [Cell: [FigureReportStore.Sum]] {
            areWhole[open] && cut.contains(spans[open].days) ? lostInAny[open] : [:]
        }
        try eachLevel(sums) { table, place, cell, before, _, moved in
            if place != open {
                try table.add(churns, of: open, lost: lostOfOpen())
                (open, churns) = (place, [:])
            }
            let days = spans[place].days
            func amount(_ kinds: String...) -> Int64 {
                moved.filter { kinds.contains($0.kind) }.reduce(0) { $0 + $1.amount }
            }
            var churn = Churn(
                purchases: before.purchases, start: before.amount, less: amount("churn", "contraction"),
                more: amount("expansion", "reactivation"))
            if !cut.contains(days) {
                let told = areWhole[place] ? dimensions.subtracting(.currency) : dimensions
                churn.ended = Self.count(
                    moved.filter { $0.kind.hasPrefix("lost") && RevenueLoss.counts($0.step, for: told) })
            } else if !areWhole[place] {
                churn.ended = Self.count(lost[place][cell] ?? [])
            }
            var row = cell
            if let rates, let rate = rates.rate(of: cell[currency], before: days.lowerBound),
                let converted = churn.converted(by: rate)
            {
                (row[currency], churn) = (rates.conversion.currency, converted)
            }
            churns[row, default: Churn()].add(churn)
        }
        if !spans.isEmpty { try add(churns, of: open, lost: lostOfOpen()) }
    }

    /// - Parameter lost: by cells without a currency.
    private mutating func add(
        _ churns: [Cell: Churn], of place: Int, lost: [Cell: [FigureReportStore.Sum]]
    ) throws {
        for cell in Self.sorted(churns.keys) {
            guard let churn = churns[cell] else { continue }
            var inAny = cell
            inAny[Self.place(of: .currency)] = ""
            let ended = churn.ended + Self.count(lost[inAny] ?? [])
            try add(
                spans[place], cell,
                [
                    ("purchasesAtStart", .count(churn.purchases)), ("lostPurchases", .count(ended)),
                    ("customerChurn", .share(Self.share(ended, of: churn.purchases))),
                    ("startAmount", .amount(churn.start)), ("lostAmount", .amount(-churn.less)),
                    ("revenueChurn", .share(Self.share(-churn.less, of: churn.start))),
                    ("netRevenueChurn", .share(Self.share(-churn.less - churn.more, of: churn.start))),
                ])
        }
    }

    private static func count(_ sums: [FigureReportStore.Sum]) -> Int64 { sums.reduce(0) { $0 + $1.count } }
}

extension FigureReport.Dimension {
    /// Nothing for the app, which a purchase never leaves.
    fileprivate var ofCell: RevenueDimensions {
        switch self {
        case .app: []
        case .product: .product
        case .storefront: .storefront
        case .currency: .currency
        case .period: .period
        case .offer: .offer
        }
    }
}
