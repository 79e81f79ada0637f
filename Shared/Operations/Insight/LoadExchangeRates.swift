import Postgres
import Storage

/// Loads exchange rates from a file of an operator.
package struct LoadExchangeRates: Sendable {
    package static let name = "insight rates load"
    /// The maximum number of lines: a hundred years of days of thirty currencies.
    private static let longest = 1_000_000

    private let reportingCurrency: String
    private let source: String
    /// At most one for each currency and day.
    package let rates: [ExchangeRate]

    /// - Parameters:
    ///   - text: lines `day,currency,rate`, such as `2026-01-31,EUR,1.0823`: so many units of the reporting currency is one unit of the currency
    ///     worth. A first line of names, and empty lines, are left out.
    ///   - reportingCurrency: ISO 4217 code.
    ///   - source: whose rates they are.
    /// - Throws: `OperationError` that names the first line that is wrong.
    package init(_ text: String, into reportingCurrency: String, from source: String) throws(OperationError) {
        try CurrencyCode.check(reportingCurrency, "into")
        self.reportingCurrency = reportingCurrency
        self.source = try SourceName.checked(source)
        var rates: [ExchangeRate] = []
        var known: Set<String> = []
        for line in try TermsFile.lines(of: text, names: ["day", "currency", "rate"], longest: Self.longest) {
            let (day, currency) = (line.fields[0], line.fields[1])
            try CurrencyCode.check(currency, "line \(line.number)")
            guard currency != reportingCurrency else {
                throw OperationError(
                    "line \(line.number) has a rate of \(currency) in itself: leave it out", .invalid("file"))
            }
            guard let trillionths = TermsFile.decimal(line.fields[2], digits: 12), trillionths > 0 else {
                throw OperationError(
                    "line \(line.number): “\(line.fields[2].prefix(50))” is no rate such as 1.0823: more than 0, less than 9,000,000, "
                        + "at most 12 decimals", .invalid("file"))
            }
            guard known.insert("\(day) \(currency)").inserted else {
                throw OperationError(
                    "line \(line.number) has a second rate of \(currency) on \(day)", .invalid("file"))
            }
            rates.append(
                ExchangeRate(
                    day: try FigureQuestion.day(day, "line \(line.number)"), currency: currency,
                    trillionths: trillionths))
        }
        guard !rates.isEmpty else { throw OperationError("the file has no rate", .invalid("file")) }
        self.rates = rates
    }

    private var subject: String { "exchange rates in \(reportingCurrency) of \(source)" }

    package func plan() -> OperationPlan {
        let days = rates.map(\.day)
        let currencies = Set(rates.map(\.currency)).sorted()
        let range =
            "\(FigureQuestion.text(days.min() ?? rates[0].day)) to \(FigureQuestion.text(days.max() ?? rates[0].day))"
        return OperationPlan(
            Self.name, on: subject, about: nil,
            [
                "Rates of \(range) would be loaded: \(rates.count), of \(currencies.joined(separator: ", ")).",
                "Rates of the same currencies and days would be replaced; reports in \(reportingCurrency) follow at once.",
            ])
    }

    /// - Returns: number of rates that are new or other than before.
    package func perform(on connection: PostgresConnection, by performer: Performer) async throws -> Int {
        try await ExchangeRateStore(connection).load(
            rates, into: reportingCurrency, from: source, at: performer.now,
            audit: performer.action(Self.name, on: subject))
    }
}
