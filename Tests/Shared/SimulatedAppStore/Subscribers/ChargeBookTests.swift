import Contracts
import Foundation
import Testing

@testable import SimulatedAppStore

/// The simulator's books of a purchase, compared with amounts computed by hand.
@Suite struct ChargeBookTests {
    private static let app = App(bundleId: "com.example.app", appAppleId: 1, environment: .production)
    private static let beginning = Date(milliseconds: 1_790_000_000_000)

    /// The book after some events, and the moment of the last one.
    private static func book(
        _ events: [LifecycleEvent], _ product: Product
    ) -> (book: ChargeBook, now: Date, payload: EventPayload?) {
        var fixture = PurchaseFixture(app, seed: 3, beginning: beginning)
        var payload: EventPayload?
        for event in events { payload = fixture.next(event, product: product) }
        return (fixture.simulated.book, fixture.simulated.now, payload)
    }

    @Test func `A month earns its price while it runs, and a refund ends it`() {
        let monthly = Product.subscriptions[1]
        let (book, now, payload) = Self.book([.subscribe, .renew], monthly)
        #expect(payload?.book == book)
        #expect(book.charges.map(\.price) == [4_990, 4_990] && book.refunds.isEmpty)
        #expect(book.monthlyRevenue(at: Self.beginning) == 0)
        #expect(book.monthlyRevenue(at: now) == 4_990)
        #expect(book.monthlyRevenue(at: book.charges[1].end) == 0)
        let refunded = Self.book([.subscribe, .renew, .refund], monthly)
        #expect(refunded.book.refunds.map(\.transactionId) == [book.charges[1].transactionId])
        #expect(refunded.book.monthlyRevenue(at: refunded.now) == 0)
        let reversed = Self.book([.subscribe, .renew, .refund, .reverseRefund], monthly)
        #expect(reversed.book.refunds.isEmpty && reversed.book.monthlyRevenue(at: reversed.now) == 4_990)
    }

    @Test func `A price counts by the months of its period, rounded once`() {
        let expected: [(Int, Int64)] = [(0, 8_653), (3, 6_666), (6, 4_495), (7, 8_997), (8, 16_665), (9, 15_990)]
        for (index, amount) in expected {
            let (book, now, _) = Self.book([.subscribe], Product.subscriptions[index])
            #expect(book.monthlyRevenue(at: now) == amount, "\(Product.subscriptions[index].suffix)")
        }
    }

    @Test func `Added seats earn their own price until they are refunded`() {
        let added = Self.book([.subscribe, .addSeats], Product.team)
        #expect(added.book.charges.map(\.seatsOf) == [nil, added.book.charges[0].transactionId])
        #expect(added.book.monthlyRevenue(at: added.now) == 2 * 49_990)
        #expect(added.book.monthlyRevenue(at: added.now.adding(-1)) == 49_990)
        let refunded = Self.book([.subscribe, .addSeats, .refundEarlierPeriod], Product.team)
        #expect(refunded.book.monthlyRevenue(at: refunded.now) == 49_990)
    }

    @Test func `Who shares a purchase pays nothing`() throws {
        var random = SeededRandom(seed: 1)
        var identities = Identities(seed: 1, now: Self.beginning)
        let buyer = Customer(of: Self.app, random: &random, identities: &identities)
        var shared = SimulatedPurchase(
            of: buyer.sharing(.familyShared, identities: &identities),
            timeScale: TimeScale(environment: .production), beginning: Self.beginning)
        let payload = try #require(
            shared.apply(
                .subscribe, at: Self.beginning.adding(1), product: Product.subscriptions[1], identities: &identities))
        #expect(payload.book == nil)
    }
}
