import Postgres
import Storage

/// Loads the taxes that prices include from a file of an operator.
package struct LoadTaxShares: Sendable {
    package static let name = "insight taxes load"
    private static let subject = "tax shares"
    /// The maximum number of lines.
    private static let longest = 100_000

    /// At most one for each storefront and day.
    package let shares: [ProceedsTermsStore.TaxShare]

    /// - Parameters:
    ///   - text: lines `storefront,from,percent`, such as `DEU,2021-01-01,19`: the tax in percent of the price without it, from that day. A first
    ///     line of names, and empty lines, are left out.
    ///   - source: who says so.
    /// - Throws: `OperationError` that names the first line that is wrong.
    package init(_ text: String, from source: String) throws(OperationError) {
        let source = try SourceName.checked(source)
        var shares: [ProceedsTermsStore.TaxShare] = []
        var known: Set<String> = []
        for line in try TermsFile.lines(of: text, names: ["storefront", "from", "percent"], longest: Self.longest) {
            let (storefront, day) = (line.fields[0], line.fields[1])
            guard TermsFile.isCode(storefront) else {
                throw OperationError(
                    "line \(line.number): “\(storefront.prefix(50))” is no storefront such as DEU", .invalid("file"))
            }
            guard let rate = TermsFile.decimal(line.fields[2], digits: 3), rate <= 100_000 else {
                throw OperationError(
                    "line \(line.number): “\(line.fields[2].prefix(50))” is no percentage such as 19 or 8.875: 0 to 100, at most three "
                        + "decimals", .invalid("file"))
            }
            guard known.insert("\(storefront) \(day)").inserted else {
                throw OperationError(
                    "line \(line.number) has a second share of \(storefront) from \(day)", .invalid("file"))
            }
            shares.append(
                ProceedsTermsStore.TaxShare(
                    storefront: storefront, firstDay: try FigureQuestion.day(day, "line \(line.number)"),
                    rate: Int32(rate), source: source))
        }
        guard !shares.isEmpty else { throw OperationError("the file has no tax share", .invalid("file")) }
        self.shares = shares
    }

    package func plan() -> OperationPlan {
        let storefronts = Set(shares.map(\.storefront)).count
        return OperationPlan(
            Self.name, on: Self.subject, about: nil,
            [
                "Tax shares would be loaded: \(shares.count), of storefronts: \(storefronts).",
                "Shares of the same storefronts and days would be replaced; estimates of proceeds follow at once.",
            ])
    }

    /// - Returns: number of shares that are new or other than before.
    package func perform(on connection: PostgresConnection, by performer: Performer) async throws -> Int {
        try await ProceedsTermsStore(connection).load(
            shares, at: performer.now, audit: performer.action(Self.name, on: Self.subject))
    }
}
