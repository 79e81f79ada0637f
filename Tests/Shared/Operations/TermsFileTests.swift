import Storage
import Testing

@testable import Operations

/// Files of rates and taxes are read whole or not at all.
@Suite struct TermsFileTests {
    @Test func `Exchange rates are read exactly, with and without names, from any program`() throws {
        let text = "\u{feff}day,currency,rate\r\n2026-01-31, EUR ,1.0823\r\n\r\n2026-01-31,JPY,0.006451612903\r\n"
        let rates = try LoadExchangeRates(text, into: "USD", from: "bank").rates
        #expect(rates.map(\.currency) == ["EUR", "JPY"])
        #expect(rates.map(\.trillionths) == [1_082_300_000_000, 6_451_612_903])
        #expect(FigureQuestion.text(rates[0].day) == "2026-01-31")
    }

    @Test(
        arguments: [
            ("2026-01-31,EUR", "line 1 has 2 fields"), ("2026-02-30,EUR,1", "line 1 “2026-02-30” is no day"),
            ("2026-01-31,eur,1", "line 1: “eur” is no currency"), ("2026-01-31,USD,1", "in itself"),
            ("2026-01-31,EUR,0", "no rate"), ("2026-01-31,EUR,-1", "no rate"), ("2026-01-31,EUR,1e3", "no rate"),
            ("2026-01-31,EUR,1.0000000000001", "no rate"), ("2026-01-31,EUR,.5", "no rate"),
            ("2026-01-31,EUR,1.", "no rate"), ("2026-01-31,EUR,99999999", "no rate"), ("", "has no rate"),
            ("2026-01-31,EUR,1\n2026-01-31,EUR,2", "line 2 has a second rate"),
        ])
    func `A file of rates that is wrong is refused with its line`(text: String, problem: String) throws {
        let error = try #require(throws: OperationError.self) {
            _ = try LoadExchangeRates(text, into: "USD", from: "bank")
        }
        #expect(error.description.contains(problem), "\(error.description)")
    }

    @Test func `The reporting currency and the source are checked`() {
        let line = "2026-01-31,EUR,1"
        #expect(throws: OperationError.self) { _ = try LoadExchangeRates(line, into: "usd", from: "bank") }
        #expect(throws: OperationError.self) { _ = try LoadExchangeRates(line, into: "USD", from: "") }
        #expect(throws: OperationError.self) { _ = try LoadExchangeRates(line, into: "USD", from: "a\nb") }
    }

    @Test func `Tax shares are percentages of the price without tax`() throws {
        let shares = try LoadTaxShares(
            "storefront,from,percent\nDEU,2021-01-01,19\nUSA,2021-01-01,0\nCHE,2024-01-01,8.1\nAAA,2024-01-01,100",
            from: "adviser"
        ).shares
        #expect(shares.map(\.rate) == [19_000, 0, 8_100, 100_000])
        for (text, problem) in [
            ("DE,2021-01-01,19", "no storefront"), ("DEU,2021-01-01,19.0001", "no percentage"),
            ("DEU,2021-01-01,101", "no percentage"), ("DEU,2021-01-01,1\nDEU,2021-01-01,1", "second share"),
            ("storefront,from,percent", "no tax share"),
        ] {
            let error = try #require(throws: OperationError.self) { _ = try LoadTaxShares(text, from: "adviser") }
            #expect(error.description.contains(problem), "\(error.description)")
        }
    }
}
