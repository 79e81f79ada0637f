import Foundation
import Subscriptions
import TestSupport
import Testing

/// What a customer paid for a purchase, by hand-computed cases.
@Suite struct PaidTotalTests {
    private typealias Movements = RevenueMovementTests

    @Test func `Each currency has its total of charges, and what was refunded of it`() {
        var (prorated, full, dollars) = (
            Movements.paid("2", from: 30, to: 60), Movements.paid("3", from: 60, to: 90),
            Movements.paid("4", from: 90, to: 120, price: 12_990)
        )
        (prorated.revocationDate, prorated.revocationType) = (Sample.day(40), "REFUND_PRORATED")
        prorated.revocationPercentage = 50_000
        (full.revocationDate, full.revocationType) = (Sample.day(70), "REFUND_FULL")
        dollars.currency = "USD"
        let first = Movements.paid("1", to: 30)
        let expected = [
            PaidTotal(currency: first.currency ?? "", charged: 29_970, refunded: 14_985, charges: 3),
            PaidTotal(currency: "USD", charged: 12_990, refunded: 0, charges: 1),
        ]
        let all = [first, prorated, full, dollars]
        #expect(PaidTotal.all(of: all) == expected)
        #expect(PaidTotal.all(of: all.reversed()) == expected)
    }

    @Test func `Refunds of items of Advanced Commerce count by their share, also where the transaction goes on`() {
        var (items, all) = (Movements.paid("1", to: 30), Movements.paid("2", from: 30, to: 60))
        items.revocationPercentage = 10_000
        (all.revocationDate, all.revocationPercentage) = (Sample.day(40), 50_000)
        #expect(PaidTotal.all(of: [items, all]).map(\.refunded) == [999 + 4_995])
        all.revocationType = "FAMILY_REVOKE"
        #expect(PaidTotal.all(of: [items, all]).map(\.refunded) == [999])
        // Their amounts are exact, where a share is rounded.
        items.itemRefunds = [.init(date: Sample.day(3), amount: 1_001), .init(date: Sample.day(5), amount: -7)]
        #expect(PaidTotal.all(of: [items]).map(\.refunded) == [1_001])
        items.itemRefunds.append(.init(date: Sample.day(6), amount: .max))
        #expect(PaidTotal.all(of: [items]).map(\.refunded) == [9_990])
    }

    @Test func `What is free, has no price, or is paid by another purchase is in no total`() {
        let free = Movements.paid("1", to: 7, price: 0)
        var (unpriced, shared) = (Movements.paid("2", from: 7, to: 30), Movements.paid("3", from: 30, to: 60))
        unpriced.priceMilliunits = nil
        shared.ownership = "FAMILY_SHARED"
        #expect(PaidTotal.all(of: [free, unpriced, shared]).isEmpty)
        #expect(PaidTotal.all(of: []).isEmpty)
    }
}
