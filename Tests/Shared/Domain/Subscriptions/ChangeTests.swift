import Contracts
import Foundation
import Subscriptions
import TestSupport
import Testing

@Suite struct ChangeTests {
    @Test(arguments: [
        (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"), (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
        (951_782_400_123, "2000-02-29T00:00:00.123Z"),
        (4_107_542_400_000, "2100-03-01T00:00:00.000Z"), (Int64.max, "9999-12-31T23:59:59.999Z"),
        (Int64.min, "0001-01-01T00:00:00.000Z"),
    ]) func `A date is written in UTC with milliseconds`(milliseconds: Int64, text: String) {
        let facts = Sample.state(
            Sample.event(
                "EXPIRED", signed: 0,
                transaction: TransactionFacts(
                    transactionId: "1", productId: "p", productType: "t",
                    expiresDate: Date(milliseconds: milliseconds), signedDate: Sample.day(0))))
        #expect(facts.flatMap { Fact.expiresDate.text(in: $0) } == text)
    }

    @Test func `Dates are written as Foundation writes them`() {
        var generator = SeededGenerator(state: 5)
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        for _ in 0..<300 {
            // Whole seconds, because Foundation cuts milliseconds off where they have no exact fraction.
            let date = Date(milliseconds: Int64.random(in: 0...4_000_000_000, using: &generator) * 1000)
            let state = Sample.state(
                Sample.event(
                    "EXPIRED", signed: 0,
                    transaction: TransactionFacts(
                        transactionId: "1", productId: "p", productType: "t", purchaseDate: date,
                        signedDate: Sample.day(0))))
            #expect(state.flatMap { Fact.purchaseDate.text(in: $0) } == date.formatted(style))
        }
    }

    @Test func `A change has a description`() {
        #expect(
            Change(fact: .autoRenewStatus, from: "true", to: "false").sentence == "The auto-renew is off; it was on.")
        #expect(Change(fact: .status, from: nil, to: "4").sentence == "The status is in grace.")
        #expect(
            Change(fact: .revocationDate, from: "2026-01-01T00:00:00.000Z", to: nil).sentence
                == "The date of the refund or revocation was removed; it was 2026-01-01T00:00:00.000Z.")
        for fact in Fact.allCases {
            #expect(Change(fact: fact, from: "a", to: "b").sentence == "The \(fact.words) is b; it was a.")
        }
    }
}
