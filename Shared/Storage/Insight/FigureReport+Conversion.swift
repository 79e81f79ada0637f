import Postgres

import struct Foundation.Date

extension FigureReportStore {
    /// The exchange rates of a report.
    struct Rates: Sendable {
        var conversion: FigureReport.Conversion
        /// Rates in trillionths, by the moment before which they are the newest, and by currency.
        var before: [Date: [String: Int64]]

        /// Trillionths; nil where there is none.
        func rate(of currency: String, before moment: Date) -> Int64? {
            currency == conversion.currency ? ExchangeRate.whole : before[moment]?[currency]
        }
    }

    /// The rates by which a report is converted; nil where nothing is.
    /// - Parameter asOf: as of when the figures are; no later day has a rate.
    func rates(_ query: FigureReport.Query, asOf: Date?) async throws -> Rates? {
        guard let currency = query.reportingCurrency else { return nil }
        // The statement that reads charges also converts them.
        let bounds = query.isOfDailyCharges ? [] : query.spans.flatMap { [$0.lowerBound, $0.upperBound] }
        let moments = Dictionary(grouping: Set(bounds)) { bound in
            FigureReport.Interval.day.start(of: min(bound.addingTimeInterval(-1), asOf ?? bound))
        }
        let rows = try await connection.pipeline([
            Command(Self.ratesOfDays, currency, Array(moments.keys)),
            Command(Self.ratesOfTime, currency, query.days.lowerBound, query.days.upperBound),
        ])
        var before: [Date: [String: Int64]] = [:]
        for row in rows[0] {
            let (day, rated): (Date, String) = (try row.value("day"), try row.value("currency"))
            for moment in moments[day] ?? [] {
                before[moment, default: [:]][rated] = try row.value("trillionths", as: Int64.self)
            }
        }
        let known = try rows[1].map { row in
            let (first, last): (Date, Date) = (try row.value("first_day"), try row.value("last_day"))
            return FigureReport.Conversion.Rates(
                currency: try row.value("currency"), source: try row.value("source"), days: first...max(first, last))
        }
        return Rates(conversion: FigureReport.Conversion(currency: currency, rates: known), before: before)
    }

    /// The newest rate of each currency on some days, at most six days old.
    static let ratesOfDays = Statement(
        "figure-report-rates-of-days",
        """
        select asked as day, known.currency, trillionths
        from unnest($2::timestamptz[]) as asked
        cross join (
            select distinct currency
            from exchange_rate
            where reporting_currency = $1::text
        ) as known
        cross join lateral (
            select trillionths
            from exchange_rate
            where reporting_currency = $1::text and currency = known.currency
                and day <= (asked at time zone 'UTC')::date and day > (asked at time zone 'UTC')::date - 7
            order by day desc
            limit 1
        ) as newest
        """)

    /// The rates that there are for the time of a report.
    static let ratesOfTime = Statement(
        "figure-report-rates-of-time",
        """
        select currency, source, min(day)::timestamp at time zone 'UTC' as first_day,
            max(day)::timestamp at time zone 'UTC' as last_day
        from exchange_rate
        where reporting_currency = $1::text and day > ($2::timestamptz at time zone 'UTC')::date - 7
            and day < ($3::timestamptz at time zone 'UTC')::date
        group by currency, source
        order by currency, source
        """)
}

extension FigureReport {
    /// The report in one currency: amounts at the start of a row by the rate of the day before it, all others by that of its last day. Rows of a
    /// currency that lacks a rate stay as they are. Of movements, what the rates alone changed is an amount of its own, so that the start and
    /// all of them are the end, exactly.
    func converted(by rates: FigureReportStore.Rates) -> FigureReport {
        struct Place: Hashable {
            var days: Range<Date>
            var cells: [String]
        }
        let currency = rates.conversion.currency
        var (sums, order): ([Place: Row], [Place]) = ([:], [])
        for row in rows {
            let row = Self.converted(row, to: currency, by: rates) ?? row
            let place = Place(days: row.days, cells: row.cells.map(\.value))
            guard var sum = sums[place] else {
                sums[place] = row
                order.append(place)
                continue
            }
            for (index, value) in row.values.enumerated() {
                switch (sum.values[index].value, value.value) {
                case (.amount(let left), .amount(let right)): sum.values[index].value = .amount(left + right)
                case (.count(let left), .count(let right)): sum.values[index].value = .count(left + right)
                default: break
                }
            }
            sums[place] = sum
        }
        order.sort { left, right in
            left.days.lowerBound == right.days.lowerBound
                ? left.cells.lexicographicallyPrecedes(right.cells) : left.days.lowerBound < right.days.lowerBound
        }
        var report = self
        report.rows = order.compactMap { sums[$0] }
        if name == .movements {
            for place in report.rows.indices { report.rows[place].addExchange() }
        }
        return report
    }

    /// The row in another currency; nil where its own lacks a rate.
    private static func converted(_ row: Row, to currency: String, by rates: FigureReportStore.Rates) -> Row? {
        guard let own = row.currency, own != currency else { return row }
        var converted = row
        for (index, value) in row.values.enumerated() {
            guard case .amount(let amount) = value.value, amount != 0 else { continue }
            let moment = value.name == "startAmount" ? row.days.lowerBound : row.days.upperBound
            guard let rate = rates.before[moment]?[own], let other = ExchangeRate.converted(amount, by: rate) else {
                return nil
            }
            converted.values[index].value = .amount(other)
        }
        for index in converted.cells.indices where converted.cells[index].dimension == .currency {
            converted.cells[index].value = currency
        }
        return converted
    }
}

extension FigureReport.Row {
    /// The end less the start and all movements, before the end.
    fileprivate mutating func addExchange() {
        guard let end = values.firstIndex(where: { $0.name == "endAmount" }) else { return }
        let amounts = values.map { value in
            guard case .amount(let amount) = value.value else { return Int64(0) }
            return amount
        }
        let moved = amounts[..<end].reduce(0, +)
        values.insert((name: "exchangeAmount", value: .amount(amounts[end] - moved)), at: end)
    }
}
