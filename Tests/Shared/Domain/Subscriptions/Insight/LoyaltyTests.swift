import Contracts
import Foundation
import Subscriptions
import TestSupport
import Testing

@Suite struct LoyaltyTests {
    static func loyalty(
        _ transactions: [TransactionFacts], _ environment: StoreEnvironment = .production,
        renewal: RenewalFacts? = nil, on day: Double
    ) -> Loyalty {
        let loyalties = [transactions, transactions.reversed()].map { order in
            Loyalty([purchase(order, renewal)], environment: environment, at: Sample.day(day))
        }
        #expect(loyalties[0] == loyalties[1])
        return loyalties[0]
    }

    private static func purchase(_ transactions: [TransactionFacts], _ renewal: RenewalFacts?) -> PurchaseSnapshot {
        var purchase = Sample.purchase("1", renewal: renewal)
        purchase.transactions = transactions.map { TransactionVersion($0, version: Sample.version(0)) }
        return purchase
    }

    @Test func `Loyalty leaves out what an upgrade cut off`() {
        let loyalty = Self.loyalty(
            [Sample.period("1", to: 100), Sample.period("2", from: 10, to: 40, product: "platinum", signed: 10)],
            on: 100)
        #expect(loyalty.paidDays == 40)
    }

    @Test func `Loyalty begins at Apple's date where earlier transactions are unknown`() {
        var renewal = Sample.renewal(signed: 5)
        renewal.recentSubscriptionStartDate = Sample.day(-400)
        let loyalty = Self.loyalty([Sample.period("1")], renewal: renewal, on: 10)
        #expect(loyalty.recentStart == Sample.day(-400))
        #expect(loyalty.paidDays == 10)
    }

    @Test func `A gap of 60 days keeps the service, and a longer one starts it again`() {
        let first = Sample.period("1", from: 0, to: 30)
        let kept = Self.loyalty([first, Sample.period("2", from: 90, to: 120)], on: 100)
        #expect(kept.recentStart == Sample.day(0))
        #expect(kept.paidDays == 40)
        let restarted = Self.loyalty([first, Sample.period("2", from: 91, to: 121)], on: 100)
        #expect(restarted.recentStart == Sample.day(91))
        #expect(restarted.paidDays == 9)
    }

    @Test func `The sandbox allows a gap of ten minutes`() {
        let minute = 1.0 / 1440
        let first = Sample.period("1", from: 0, to: 5 * minute)
        let kept = Self.loyalty([first, Sample.period("2", from: 15 * minute, to: 1)], .sandbox, on: 0.5)
        #expect(kept.recentStart == Sample.day(0))
        let restarted = Self.loyalty([first, Sample.period("2", from: 15.1 * minute, to: 1)], .sandbox, on: 0.5)
        #expect(restarted.recentStart == Sample.day(15.1 * minute))
    }

    @Test func `A trial is service and not paid for`() {
        var trial = Sample.period("1", from: 0, to: 14)
        trial.offerDiscountType = "FREE_TRIAL"
        let loyalty = Self.loyalty([trial, Sample.period("2", from: 14, to: 44)], on: 20)
        #expect(loyalty.recentStart == Sample.day(0))
        #expect(loyalty.paidDays == 6)
    }

    @Test
    func `Family shared, assigned, refunded and free periods are not paid service, and a prorated refund ends it`() {
        var shared = Sample.period("1")
        shared.ownership = "FAMILY_SHARED"
        var assigned = Sample.period("1")
        assigned.ownership = "ASSIGNED"
        var free = Sample.period("1")
        free.priceMilliunits = 0
        var wrong = Sample.period("1")
        wrong.priceMilliunits = -5
        for unpaid in [shared, assigned, free, wrong, Sample.period("1", revoked: 20)] {
            #expect(Self.loyalty([unpaid], on: 30).paidDays == 0)
        }
        var part = Sample.period("1", signed: 20, revoked: 20)
        part.revocationType = "REFUND_PRORATED"
        #expect(Self.loyalty([part], on: 30).paidDays == 20)
    }

    @Test func `The time that an upgrade and its predecessor share counts once`() {
        let loyalty = Self.loyalty([Sample.period("1"), Sample.period("2", from: 10, to: 40, signed: 10)], on: 50)
        #expect(loyalty.paidDays == 40)
    }

    @Test func `The commission falls after 365 paid days, without gaps of up to 60 days`() {
        let year = (0..<11).map { Sample.period("\($0)", from: Double($0) * 30, to: Double($0 + 1) * 30) }
        #expect(Self.loyalty(year, on: 330).reducedCommissionStart == nil)
        let resumed = year + [Sample.period("12", from: 370, to: 420)]
        #expect(Self.loyalty(resumed, on: 400).reducedCommissionStart == Sample.day(405))
        let late = year + [Sample.period("12", from: 400, to: 450)]
        #expect(Self.loyalty(late, on: 430).reducedCommissionStart == nil)
        #expect(Self.loyalty(late, on: 430).paidDays == 30)
    }

    @Test func `Paid time before too long a gap does not count in a trial after it`() {
        var trial = Sample.period("2", from: 100, to: 114)
        trial.offerDiscountType = "FREE_TRIAL"
        #expect(Self.loyalty([Sample.period("1"), trial], on: 105).paidDays == 0)
    }

    @Test func `A customer without subscriptions has no service`() {
        let loyalty = Self.loyalty([Sample.purchase(.nonConsumable, "sword"), Sample.period("2", from: 9)], on: 5)
        #expect(loyalty.recentStart == nil)
        #expect(loyalty.paidDays == 0)
    }
}
