import Foundation
import Subscriptions

extension FigureReportStore {
    /// Computes the rows of a report from sums. No I/O.
    struct Table {
        private let query: FigureReport.Query
        private let asOf: Date?
        private let complete: Set<Date>
        private(set) var rows: [FigureReport.Row] = []

        private static let day: TimeInterval = 86_400
        private static let calendar: Calendar = {
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = .gmt
            return calendar
        }()

        init(_ query: FigureReport.Query, asOf: Date?, complete: Set<Date>) {
            self.query = query
            self.asOf = asOf
            self.complete = complete
        }

        /// The spans from the first day to the last.
        private var spans: [Range<Date>] {
            var spans: [Range<Date>] = []
            var start = query.days.lowerBound
            while start < query.days.upperBound {
                let next = min(Self.end(of: start, query.interval), query.days.upperBound)
                spans.append(start..<next)
                start = next
            }
            return spans
        }

        private static func end(of start: Date, _ interval: FigureReport.Interval) -> Date {
            guard interval == .month else { return start.addingTimeInterval(day) }
            return calendar.dateInterval(of: .month, for: start)?.end ?? start.addingTimeInterval(day)
        }

        /// Sums are by calendar month; the first span may begin within one.
        private func sums(_ sums: [Sum], in span: Range<Date>) -> [Sum] {
            sums.filter { sum in
                guard let start = sum.start else { return false }
                return span.contains(max(start, query.days.lowerBound))
            }
        }

        private func isComplete(_ span: Range<Date>) -> Bool {
            var day = span.lowerBound
            while day < span.upperBound {
                guard complete.contains(day) else { return false }
                day = day.addingTimeInterval(Self.day)
            }
            return asOf.map { span.upperBound <= $0 } ?? false
        }

        private mutating func add(
            _ span: Range<Date>, _ cell: [String], _ values: [(name: String, value: FigureReport.Value)]
        ) {
            let cells = zip(Dimension.allCases, cell).filter { query.dimensions.contains($0.0) }
            rows.append(
                FigureReport.Row(
                    days: span, isComplete: isComplete(span), cells: cells.map { (dimension: $0.0, value: $0.1) },
                    values: values))
        }

        /// What each cell earns before the first span, and what moves in each.
        private struct Level {
            var amount: Int64 = 0
            var revenueCatAmount: Int64 = 0
            var purchases: Int64 = 0

            mutating func add(_ sums: [Sum]) {
                for sum in sums {
                    amount += sum.amount
                    revenueCatAmount += sum.revenueCatAmount
                    purchases += sum.purchases
                }
            }
        }

        private mutating func eachLevel(
            _ sums: [Sum], _ body: (inout Table, Range<Date>, [String], Level, Level, [Sum]) -> Void
        ) {
            var levels: [[String]: Level] = [:]
            for sum in sums where sum.start == nil { levels[sum.cell, default: Level()].add([sum]) }
            for span in spans {
                let moved = Dictionary(grouping: self.sums(sums, in: span), by: \.cell)
                for cell in Set(levels.keys).union(moved.keys).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
                    let before = levels[cell] ?? Level()
                    var after = before
                    after.add(moved[cell] ?? [])
                    levels[cell] = after
                    guard before.purchases != 0 || before.amount != 0 || moved[cell] != nil else { continue }
                    body(&self, span, cell, before, after, moved[cell] ?? [])
                }
            }
        }

        mutating func addRevenue(_ sums: [Sum]) {
            eachLevel(sums) { table, span, cell, _, after, _ in
                table.add(
                    span, cell,
                    [
                        ("amount", .amount(after.amount)), ("revenueCatAmount", .amount(after.revenueCatAmount)),
                        ("purchases", .count(after.purchases)),
                    ])
            }
        }

        mutating func addMovements(_ sums: [Sum]) {
            eachLevel(sums) { table, span, cell, before, after, moved in
                func of(_ kind: RevenueMovement.Kind) -> [Sum] { moved.filter { $0.kind == kind.rawValue } }
                let kinds = RevenueMovement.Kind.allCases
                table.add(
                    span, cell,
                    [("startAmount", .amount(before.amount))]
                        + kinds.map { kind in
                            ("\(kind.rawValue)Amount", .amount(of(kind).reduce(0) { $0 + $1.amount }))
                        } + [("endAmount", .amount(after.amount))]
                        + kinds.map { kind in
                            ("\(kind.rawValue)Count", .count(of(kind).reduce(0) { $0 + $1.count }))
                        })
            }
        }

        mutating func addChurn(_ sums: [Sum], lost: [Sum]) {
            eachLevel(sums) { table, span, cell, before, after, moved in
                let ended = table.sums(lost, in: span).filter { $0.cell == cell }.reduce(0) { $0 + $1.count }
                let less = moved.filter { $0.kind == "churn" || $0.kind == "contraction" }.reduce(0) { $0 + $1.amount }
                let more = moved.filter { $0.kind == "expansion" || $0.kind == "reactivation" }
                    .reduce(0) { $0 + $1.amount }
                table.add(
                    span, cell,
                    [
                        ("purchasesAtStart", .count(before.purchases)), ("lostPurchases", .count(ended)),
                        ("customerChurn", .share(Self.share(ended, of: before.purchases))),
                        ("startAmount", .amount(before.amount)), ("lostAmount", .amount(-less)),
                        ("revenueChurn", .share(Self.share(-less, of: before.amount))),
                        ("netRevenueChurn", .share(Self.share(-less - more, of: before.amount))),
                    ])
            }
        }

        /// Of each cohort the share that reached a paid period, of those whose time for it has come.
        mutating func addRetention(_ sums: [Sum]) {
            guard let asOf else { return }
            for span in spans {
                let cohorts = Dictionary(grouping: self.sums(sums, in: span), by: \.cell)
                for (cell, cohort) in cohorts.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
                    guard let period = BillingPeriod(cell[Self.place(of: .period)]) else { continue }
                    for step in 1...Self.steps {
                        let mature = cohort.filter { sum in
                            sum.start.map {
                                $0.addingTimeInterval(Self.day + period.seconds * Double(step - 1)) <= asOf
                            } ?? false
                        }
                        func count(_ kind: String, from first: Int64) -> Int64 {
                            mature.filter { $0.kind == kind && $0.step >= first }.reduce(0) { $0 + $1.count }
                        }
                        let hadTime = count("periods", from: 1)
                        guard hadTime > 0 else { break }
                        let kept = count("periods", from: Int64(step))
                        add(
                            span, cell,
                            [
                                ("step", .count(Int64(step))), ("hadTime", .count(hadTime)), ("kept", .count(kept)),
                                ("keptWithoutResubscription", .count(count("unbrokenPeriods", from: Int64(step)))),
                                ("retention", .share(Self.share(kept, of: hadTime))),
                            ])
                    }
                }
            }
        }

        /// Columns of retention.
        private static let steps = 36

        mutating func addTrials(_ sums: [Sum]) {
            eachCell(sums) { table, span, cell, sums in
                func count(_ kind: String, within days: Int64 = .max) -> Int64 {
                    sums.filter { $0.kind == kind && $0.step <= days }.reduce(0) { $0 + $1.count }
                }
                let (running, paid) = (count("trialRunning"), count("trialPaid"))
                let over = paid + count("trialEnded")
                table.add(
                    span, cell,
                    [
                        ("begun", .count(over + running)), ("running", .count(running)), ("paid", .count(paid)),
                        ("paidWithin30Days", .count(count("trialPaid", within: 30))),
                        ("conversion", .share(Self.share(paid, of: over))),
                    ])
            }
        }

        mutating func addCharges(_ sums: [Sum]) {
            eachCell(sums) { table, span, cell, sums in
                func total(_ kinds: String...) -> (amount: Int64, count: Int64) {
                    sums.filter { kinds.contains($0.kind) }.reduce(into: (0, 0)) {
                        $0.0 += $1.amount
                        $0.1 += $1.count
                    }
                }
                let (charged, refunded) = (total("charge", "loyalCharge"), total("refund"))
                let ofCharges = total("refundOfCharge")
                table.add(
                    span, cell,
                    [
                        ("charged", .amount(charged.amount)), ("charges", .count(charged.count)),
                        ("refunded", .amount(refunded.amount)), ("refunds", .count(refunded.count)),
                        ("chargedAndKept", .amount(charged.amount - ofCharges.amount)),
                        ("refundRate", .share(Self.share(ofCharges.count, of: charged.count))),
                    ])
            }
        }

        private mutating func eachCell(_ sums: [Sum], _ body: (inout Table, Range<Date>, [String], [Sum]) -> Void) {
            for span in spans {
                let cells = Dictionary(grouping: self.sums(sums, in: span), by: \.cell)
                for (cell, sums) in cells.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) })
                where sums.contains(where: { $0.count != 0 }) {
                    body(&self, span, cell, sums)
                }
            }
        }

        private static func place(of dimension: Dimension) -> Int { Dimension.allCases.firstIndex(of: dimension) ?? 0 }

        private static func share(_ part: Int64, of whole: Int64) -> Double? {
            whole > 0 ? Double(part) / Double(whole) : nil
        }
    }
}
