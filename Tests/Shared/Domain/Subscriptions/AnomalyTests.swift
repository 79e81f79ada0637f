import Contracts
import Foundation
import Subscriptions
import TestSupport
import Testing

@Suite struct AnomalyTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var anomaly: Anomaly
        var event: PurchaseEvent
        /// The state of the purchase on day 5, in spite of the anomaly.
        var state: SubscriptionState
        var testDescription: String { anomaly.rawValue }
    }

    static func event(
        _ name: String = "SUBSCRIBED/INITIAL_BUY", status: Int? = 1, signed: Double = 0,
        renewal: RenewalFacts? = nil, _ change: (inout PurchaseEvent) -> Void = { _ in }
    ) -> PurchaseEvent {
        var event = Sample.event(
            name, signed: signed, status: status, transaction: Sample.period(signed: signed), renewal: renewal)
        change(&event)
        return event
    }

    static let cases: [Case] = [
        Case(
            anomaly: .expiryBeforePurchase, event: event { $0.transaction?.expiresDate = Sample.day(-1) },
            state: .expired
        ),
        Case(
            anomaly: .expiryBeforePurchase, event: event { $0.transaction?.purchaseDate = Sample.day(30) },
            state: .expired),
        Case(
            anomaly: .revocationBeforePurchase, event: event { $0.transaction?.revocationDate = Sample.day(-2) },
            state: .revoked),
        Case(
            anomaly: .implausibleDate,
            event: event { $0.transaction?.originalPurchaseDate = Date(timeIntervalSince1970: -62_135_596_800) },
            state: .active),
        Case(
            anomaly: .implausibleDate,
            event: event { $0.transaction?.expiresDate = Date(timeIntervalSince1970: 253_402_300_799) }, state: .active),
        Case(
            anomaly: .implausibleDate, event: event { $0.transaction?.originalPurchaseDate = .distantPast },
            state: .active),
        Case(anomaly: .negativePrice, event: event { $0.transaction?.priceMilliunits = -1 }, state: .active),
        Case(
            anomaly: .negativePrice,
            event: event(renewal: Sample.renewal()) { $0.renewal?.renewalPriceMilliunits = .min },
            state: .active),
        Case(anomaly: .quantityBelowOne, event: event { $0.transaction?.quantity = 0 }, state: .active),
        Case(anomaly: .renewalOfOtherProduct, event: event(renewal: Sample.renewal(product: "lead")), state: .active),
        Case(
            anomaly: .renewalOfOtherPurchase,
            event: event(renewal: Sample.renewal()) { $0.renewalOriginalTransactionId = "999" }, state: .active),
        Case(
            anomaly: .graceWithoutEnd,
            event: event(status: 4, renewal: Sample.renewal(retry: true)) {
                $0.transaction?.expiresDate = Sample.day(0.5)
            }, state: .billingRetry),
        Case(anomaly: .revocationWithoutDate, event: event("REVOKE", status: 5), state: .revoked),
        Case(anomaly: .revocationWithoutDate, event: event("REFUND", status: 1), state: .active),
        Case(
            anomaly: .reversalWithRevocation,
            event: event("REFUND_REVERSED") { $0.transaction?.revocationDate = Sample.day(3) }, state: .revoked),
        Case(anomaly: .expiredBeforeEnd, event: event("EXPIRED/VOLUNTARY", status: 2, signed: 5), state: .active),
        Case(anomaly: .subscriptionWithoutEnd, event: event { $0.transaction?.expiresDate = nil }, state: .unknown),
        Case(anomaly: .unknownEvent, event: event("DID_DREAM"), state: .active),
        Case(anomaly: .unknownValue, event: event { $0.unknownFields = ["data.status"] }, state: .active),
        Case(anomaly: .unknownValue, event: event { $0.transaction?.productType = "Rental" }, state: .active),
        Case(anomaly: .unknownValue, event: event { $0.transaction?.productType = "" }, state: .active),
        Case(
            anomaly: .unreadableField, event: event { $0.unreadableFields = ["signedTransactionInfo.price"] },
            state: .active),
    ]

    @Test(arguments: cases) func `An anomaly is found and the state follows its rule`(given: Case) {
        #expect(given.event.anomalies == [given.anomaly])
        #expect(Anomaly.all(in: [given.event, given.event]) == [given.anomaly])
        #expect(Sample.state(given.event)?.state(at: Sample.day(5)) == given.state)
        #expect(given.anomaly.sentence.hasSuffix("."))
    }

    @Test func `Every anomaly has a case`() {
        #expect(Set(Self.cases.map(\.anomaly)) == Set(Anomaly.allCases).subtracting([.otherApp]))
    }

    @Test(arguments: [(1, []), (5, [.revocationWithoutDate])] as [(Int, [Anomaly])])
    func `A refund of some items has no revocation date, unless Apple's status says that all is revoked`(
        status: Int, expected: [Anomaly]
    ) {
        let refunded = Self.event("REFUND", status: status) { $0.isRefundOfItems = true }
        #expect(refunded.anomalies == expected)
    }

    @Test func `A status without access before the period of its transaction begins is no anomaly`() {
        let paidAhead = Sample.event(
            "PRICE_INCREASE/PENDING", signed: 29.5, status: 2,
            transaction: Sample.period("2", from: 30, to: 60, signed: 29.5), renewal: Sample.renewal(signed: 29.5))
        #expect(paidAhead.anomalies.isEmpty)
    }

    @Test func `A renewal info that names another purchase is ignored`() {
        let event = Self.event(renewal: Sample.renewal()) { $0.renewalOriginalTransactionId = "999" }
        #expect(Sample.state(event)?.renewal == nil)
        let own = Self.event(renewal: Sample.renewal()) { $0.renewalOriginalTransactionId = "1" }
        #expect(Sample.state(own)?.renewal == Sample.renewal())
    }

    @Test func `The description lists unknown and unreadable fields`() {
        let event = Self.event {
            $0.unknownFields = ["data.status", "signedRenewalInfo.offerType"]
            $0.unreadableFields = ["signedTransactionInfo.price"]
        }
        #expect(
            event.sentence == Self.event().sentence
                + " Unknown values: data.status, signedRenewalInfo.offerType. Unreadable: signedTransactionInfo.price.")
    }

    @Test func `Events of another app count, and the purchase belongs to the app of the oldest event, in any order`() {
        let own = Sample.event("SUBSCRIBED/INITIAL_BUY", signed: 0, transaction: Sample.period())
        let other = Sample.event(
            "DID_RENEW", signed: 30, transaction: Sample.period("2", from: 30, to: 60), bundleId: "com.example.woods")
        for order in [[own, other], [other, own]] {
            #expect(Anomaly.all(in: order) == [.otherApp])
        }
        #expect(Sample.state(own, other) == Sample.state(other, own))
        #expect(Sample.state(own, other)?.bundleId == "com.example.metals")
        #expect(Sample.state(own, other)?.transaction?.transactionId == "2")
        let transition = Subscription.applying(own, known: Sample.state(other))
        #expect(transition.didChange)
        #expect(!Subscription.applying(own, known: transition.subscription).didChange)
    }

    @Test func `A transaction id in two environments is two purchases`() {
        #expect(Sample.key("1", .production) != Sample.key("1", .sandbox))
    }

    @Test func `Extreme dates and numbers crash nothing`() {
        for seconds in [-Double.greatestFiniteMagnitude, -1e15, 0, 1e15, .greatestFiniteMagnitude, .infinity] {
            let date = Date(timeIntervalSince1970: seconds)
            for eventType in EventType.allCases {
                var event = Sample.event(eventType.rawValue, signed: 0, status: .max)
                event.transaction = TransactionFacts(
                    transactionId: "", productId: "", productType: "Auto-Renewable Subscription", purchaseDate: date,
                    originalPurchaseDate: date, expiresDate: date, quantity: .min, revocationDate: date,
                    revocationReason: .max, offerType: .min, priceMilliunits: .min, signedDate: date)
                event.renewal = RenewalFacts(
                    isInBillingRetry: true, gracePeriodExpiresDate: date, expirationIntent: .min, renewalDate: date,
                    signedDate: date, renewalPriceMilliunits: .min, currency: "EUR")
                let transition = Subscription.applying(event, known: Sample.state(Self.event()))
                #expect(event.anomalies.contains(.quantityBelowOne))
                #expect(!event.sentence.isEmpty && transition.changes.allSatisfy { !$0.sentence.isEmpty })
                let purchase = PurchaseSnapshot(subscription: transition.subscription)
                let periods = AccessSchedule(of: purchase).periods
                #expect(periods.allSatisfy { period in period.endsAt.map { period.startsAt < $0 } ?? true })
                let loyalty = Loyalty([purchase], environment: .production, at: date)
                #expect((0...30).contains(loyalty.paidDays))
            }
        }
    }
}
