import Foundation
import Subscriptions

extension FigureReportStore {
    /// Computes the rows of a report from sums, each of which is looked at once. No I/O.
    struct Table {
        let query: FigureReport.Query
        private let asOf: Date?
        private let limit: Int
        /// The dimensions that were asked for, and where a cell has each: a report has up to a hundred thousand rows.
        private let asked: [(place: Int, dimension: Dimension)]
        let spans: [Span]
        private(set) var rows: [FigureReport.Row] = []

        /// The time of a row.
        struct Span {
            var days: Range<Date>
            var isComplete: Bool
        }

        typealias Cell = [String]

        private static let day: TimeInterval = 86_400

        init(_ query: FigureReport.Query, asOf: Date?, complete: Set<Date>, limit: Int) {
            self.query = query
            self.asOf = asOf
            self.limit = limit
            asked = Dimension.allCases.enumerated().filter { query.dimensions.contains($0.element) }
                .map { (place: $0.offset, dimension: $0.element) }
            spans = query.spans.map { days in
                var isComplete = asOf.map { days.upperBound <= $0 } ?? false
                var day = days.lowerBound
                while isComplete, day < days.upperBound {
                    isComplete = complete.contains(day)
                    day = day.addingTimeInterval(Self.day)
                }
                return Span(days: days, isComplete: isComplete)
            }
        }

        /// The sums of each span by cell. Sums are by calendar month; the first span may begin within one.
        func grouped(_ sums: [Sum]) -> [[Cell: [Sum]]] {
            var groups = [[Cell: [Sum]]](repeating: [:], count: spans.count)
            for sum in sums {
                guard let start = sum.start, let place = place(of: max(start, query.days.lowerBound)) else { continue }
                groups[place][sum.cell, default: []].append(sum)
            }
            return groups
        }

        /// The place of the span that a moment is in.
        private func place(of moment: Date) -> Int? {
            var (low, high) = (0, spans.count)
            while low < high {
                let middle = (low + high) / 2
                if spans[middle].days.upperBound <= moment { low = middle + 1 } else { high = middle }
            }
            return low < spans.count && spans[low].days.contains(moment) ? low : nil
        }

        static func sorted(_ cells: some Sequence<Cell>) -> [Cell] {
            cells.sorted { $0.lexicographicallyPrecedes($1) }
        }

        mutating func add(
            _ span: Span, _ cell: Cell, _ values: [(name: String, value: FigureReport.Value)]
        ) throws {
            guard rows.count < limit else { throw FigureReport.TooLarge(limit: limit) }
            rows.append(
                FigureReport.Row(
                    days: span.days, isComplete: span.isComplete,
                    cells: asked.map { (dimension: $0.dimension, value: cell[$0.place]) }, values: values))
        }

        /// What each cell earns before the first span, and what moves in each.
        struct Level {
            var amount: Int64 = 0
            var revenueCatAmount: Int64 = 0
            var purchases: Int64 = 0

            /// Cells in which nothing is left have no rows.
            var isNothing: Bool { amount == 0 && purchases == 0 }

            mutating func add(_ sums: [Sum]) {
                for sum in sums {
                    amount += sum.amount
                    revenueCatAmount += sum.revenueCatAmount
                    purchases += sum.purchases
                }
            }
        }

        mutating func eachLevel(
            _ sums: [Sum], _ body: (inout Table, Int, Cell, Level, Level, [Sum]) throws -> Void
        ) throws {
            var levels: [Cell: Level] = [:]
            for sum in sums where sum.start == nil { levels[sum.cell, default: Level()].add([sum]) }
            levels = levels.filter { !$0.value.isNothing }
            for (place, moved) in grouped(sums).enumerated() {
                try Task.checkCancellation()
                for cell in Self.sorted(Set(levels.keys).union(moved.keys)) {
                    let before = levels[cell] ?? Level()
                    var after = before
                    after.add(moved[cell] ?? [])
                    levels[cell] = after.isNothing ? nil : after
                    try body(&self, place, cell, before, after, moved[cell] ?? [])
                }
            }
        }

        mutating func addRevenue(_ sums: [Sum]) throws {
            try eachLevel(sums) { table, place, cell, _, after, _ in
                try table.add(
                    table.spans[place], cell,
                    [
                        ("amount", .amount(after.amount)), ("revenueCatAmount", .amount(after.revenueCatAmount)),
                        ("purchases", .count(after.purchases)),
                    ])
            }
        }

        mutating func addMovements(_ sums: [Sum]) throws {
            try eachLevel(sums) { table, place, cell, before, after, moved in
                func of(_ kind: RevenueMovement.Kind) -> [Sum] { moved.filter { $0.kind == kind.rawValue } }
                let kinds = RevenueMovement.Kind.allCases
                try table.add(
                    table.spans[place], cell,
                    [("startAmount", .amount(before.amount))]
                        + kinds.map { kind in
                            ("\(kind.rawValue)Amount", .amount(of(kind).reduce(0) { $0 + $1.amount }))
                        } + [("endAmount", .amount(after.amount))]
                        + kinds.map { kind in
                            ("\(kind.rawValue)Count", .count(of(kind).reduce(0) { $0 + $1.count }))
                        })
            }
        }

        /// Of each cohort the share that reached a paid period, of those whose time for it has come.
        mutating func addRetention(_ sums: [Sum]) throws {
            guard let asOf else { return }
            var lengths: [String: [TimeInterval]] = [:]
            for (place, cohorts) in grouped(sums).enumerated() {
                try Task.checkCancellation()
                for cell in Self.sorted(cohorts.keys) {
                    let name = cell[Self.place(of: .period)]
                    guard let longest = lengths[name] ?? self.longest(of: name) else { continue }
                    lengths[name] = longest
                    var steps = [Retention](repeating: Retention(), count: Self.steps)
                    for sum in cohorts[cell] ?? [] {
                        guard let start = sum.start else { continue }
                        let time = asOf.timeIntervalSince(start.addingTimeInterval(Self.day))
                        for step in steps.indices {
                            guard longest[step] <= time else { break }
                            steps[step].add(sum, Int64(step) + 1)
                        }
                    }
                    for (step, retention) in zip(Int64(1)..., steps) where retention.hadTime > 0 {
                        try add(
                            spans[place], cell,
                            [
                                ("step", .count(step)), ("hadTime", .count(retention.hadTime)),
                                ("kept", .count(retention.kept)),
                                ("keptWithoutResubscription", .count(retention.unbroken)),
                                ("retention", .share(Self.share(retention.kept, of: retention.hadTime))),
                            ])
                    }
                }
            }
        }

        /// The longest time that the periods before each column take, in seconds; nil where it is not known.
        private func longest(of name: String) -> [TimeInterval]? {
            BillingPeriod(name).map { period in
                (0..<Int64(Self.steps)).map { period.longest($0, in: query.environment) }
            }
        }

        /// Counts the purchases of a cohort whose time for a period has come.
        private struct Retention {
            var hadTime: Int64 = 0
            var kept: Int64 = 0
            var unbroken: Int64 = 0

            mutating func add(_ sum: Sum, _ step: Int64) {
                let (isAll, isUnbroken) = (sum.kind != "unbrokenPeriods", sum.kind != "resubscribedPeriods")
                if isAll { hadTime += sum.count }
                guard sum.step >= step else { return }
                if isAll { kept += sum.count }
                if isUnbroken { unbroken += sum.count }
            }
        }

        /// Columns of retention.
        static let steps = 36

        mutating func addTrials(_ sums: [Sum]) throws {
            try eachCell(sums) { table, span, cell, sums in
                func count(_ kind: String, within days: Int64 = .max) -> Int64 {
                    sums.filter { $0.kind == kind && $0.step <= days }.reduce(0) { $0 + $1.count }
                }
                let (running, paid) = (count("trialRunning"), count("trialPaid"))
                let over = paid + count("trialEnded")
                try table.add(
                    span, cell,
                    [
                        ("begun", .count(over + running)), ("running", .count(running)), ("paid", .count(paid)),
                        ("paidWithin30Days", .count(count("trialPaid", within: 30))),
                        ("conversion", .share(Self.share(paid, of: over))),
                    ])
            }
        }

        mutating func addCharges(_ sums: [Sum]) throws {
            try eachCell(sums) { table, span, cell, sums in
                func total(_ kinds: String...) -> (amount: Int64, count: Int64) {
                    sums.filter { kinds.contains($0.kind) }.reduce(into: (0, 0)) {
                        $0.0 += $1.amount
                        $0.1 += $1.count
                    }
                }
                let (charged, refunded) = (total("charge", "loyalCharge"), total("refund"))
                let ofCharges = total("refundOfCharge")
                try table.add(
                    span, cell,
                    [
                        ("charged", .amount(charged.amount)), ("charges", .count(charged.count)),
                        ("refunded", .amount(refunded.amount)), ("refunds", .count(refunded.count)),
                        ("chargedAndKept", .amount(charged.amount - ofCharges.amount)),
                        ("refundRate", .share(Self.share(ofCharges.count, of: charged.count))),
                    ])
            }
        }

        /// - Parameter sums: of ``FigureReportStore/charges``.
        mutating func addProceeds(_ sums: [Sum]) throws {
            try eachCell(sums) { table, span, cell, sums in
                func total(_ kind: String) -> Int64 { sums.filter { $0.kind == kind }.reduce(0) { $0 + $1.amount } }
                let (charged, refunded) = (total("charge"), total("refund"))
                let (tax, commission) = (total("tax"), total("commission"))
                try table.add(
                    span, cell,
                    [
                        ("charged", .amount(charged)), ("refunded", .amount(refunded)),
                        ("estimatedTax", .amount(tax)), ("estimatedCommission", .amount(commission)),
                        ("estimatedProceeds", .amount(charged - refunded - tax - commission)),
                        ("withoutTaxShare", .amount(total("withoutTaxShare"))),
                    ])
            }
        }

        private mutating func eachCell(
            _ sums: [Sum], _ body: (inout Table, Span, Cell, [Sum]) throws -> Void
        ) throws {
            for (place, cells) in grouped(sums).enumerated() {
                try Task.checkCancellation()
                let span = spans[place]
                for cell in Self.sorted(cells.keys) {
                    guard let sums = cells[cell], sums.contains(where: { $0.count != 0 }) else { continue }
                    try body(&self, span, cell, sums)
                }
            }
        }

        static func place(of dimension: Dimension) -> Int { Dimension.allCases.firstIndex(of: dimension) ?? 0 }

        static func share(_ part: Int64, of whole: Int64) -> Double? {
            whole > 0 ? Double(part) / Double(whole) : nil
        }
    }
}
