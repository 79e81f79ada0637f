import Foundation
import Subscriptions
import TestSupport
import Testing

@Suite struct SubscriptionEndTests {
    @Test(arguments: [
        ("EXPIRED/VOLUNTARY", ExpiryReason.voluntary), ("EXPIRED/BILLING_RETRY", .billing),
        ("EXPIRED/PRICE_INCREASE", .price), ("EXPIRED/PRODUCT_NOT_FOR_SALE", .productUnavailable), ("EXPIRED", .other),
    ]) func `The subtype of an expiry is its reason`(event: String, reason: ExpiryReason) {
        let event = Sample.event(event, signed: 31, status: 2, transaction: Sample.period())
        #expect(SubscriptionEnd.all(in: [event, event]).map(\.reason) == [reason])
    }

    @Test func `Each end is one row, and a purchase that runs has none`() {
        let first = Sample.event("EXPIRED/BILLING_RETRY", signed: 31, status: 2, transaction: Sample.period())
        let back = Sample.event(
            "SUBSCRIBED/RESUBSCRIBE", signed: 40, status: 1, transaction: Sample.period("2", from: 40, to: 70))
        let second = Sample.event(
            "EXPIRED/VOLUNTARY", signed: 70, status: 2, transaction: Sample.period("2", from: 40, to: 70))
        #expect(SubscriptionEnd.all(in: [back]).isEmpty)
        let ends = SubscriptionEnd.all(in: [second, back, first])
        #expect(ends.map(\.at) == [30, 70].map(Sample.day))
        #expect(ends.map(\.reason) == [.billing, .voluntary])
    }
}
