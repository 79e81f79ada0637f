import Foundation
import Subscriptions
import TestSupport
import Testing

@Suite struct PriceConsentTests {
    static func consent(_ events: PurchaseEvent...) -> PriceConsent? {
        let states = [events, events.reversed()].map { order in
            order.reduce(nil as Subscription?) { Subscription.applying($1, known: $0).subscription }
        }
        #expect(states[0] == states[1])
        return states[0].map { PriceConsent(of: $0, events: events) }
    }

    static let asked = Sample.event("PRICE_INCREASE/PENDING", signed: 5, transaction: Sample.period())
    static let agreed = Sample.event("PRICE_INCREASE/ACCEPTED", signed: 8, transaction: Sample.period())
    static let renewed = Sample.event("DID_RENEW", signed: 30, transaction: Sample.period("2", from: 30, to: 60))
    static let ended = Sample.event("EXPIRED/PRICE_INCREASE", signed: 30, transaction: Sample.period())

    @Test func `The newest notification counts, and a renewal closes the price increase`() {
        #expect(Self.consent(Self.renewed) == PriceConsent.none)
        #expect(Self.consent(Self.asked) == .pending(since: Sample.day(5)))
        #expect(Self.consent(Self.asked, Self.agreed) == .accepted(at: Sample.day(8)))
        #expect(Self.consent(Self.asked, Self.ended) == .refused(at: Sample.day(30)))
        #expect(Self.consent(Self.asked, Self.agreed, Self.renewed) == PriceConsent.none)
    }

    @Test func `Any end closes a price increase that was never answered`() {
        var renewal = Sample.renewal(on: false, signed: 30)
        renewal.priceIncreaseStatus = 0
        let left = Sample.event(
            "EXPIRED/VOLUNTARY", signed: 30, status: 2, transaction: Sample.period(), renewal: renewal)
        #expect(Self.consent(Self.asked, left) == PriceConsent.none)
        #expect(Self.consent(left) == PriceConsent.none)
    }

    @Test(arguments: [(0, PriceConsent.pending(since: Sample.day(7))), (1, .accepted(at: Sample.day(7)))])
    func `The renewal info counts where no notification is known`(status: Int, consent: PriceConsent) {
        var renewal = Sample.renewal(signed: 7)
        renewal.priceIncreaseStatus = status
        let event = Sample.event("METADATA_UPDATE", signed: 7, transaction: Sample.period(), renewal: renewal)
        #expect(Self.consent(event) == consent)
    }

    @Test func `A renewal info older than the notification does not count`() {
        var renewal = Sample.renewal(signed: 1)
        renewal.priceIncreaseStatus = 1
        let old = Sample.event("DID_RENEW", signed: 1, transaction: Sample.period(), renewal: renewal)
        #expect(Self.consent(old, Self.asked) == .pending(since: Sample.day(5)))
        #expect(Self.consent(old) == PriceConsent.none)
    }
}
