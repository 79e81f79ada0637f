import Contracts
import Foundation
import Subscriptions
import Testing

@Suite struct AnomalyTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var anomaly: Anomaly
        var news: PurchaseEvent
        /// What the purchase is on day 5, in spite of the anomaly.
        var state: SubscriptionState
        var testDescription: String { anomaly.rawValue }
    }

    static func news(
        _ event: String = "SUBSCRIBED/INITIAL_BUY", status: Int? = 1, signed: Double = 0,
        renewal: RenewalFacts? = nil, _ change: (inout PurchaseEvent) -> Void = { _ in }
    ) -> PurchaseEvent {
        var news = Sample.news(
            event, signed: signed, status: status, transaction: Sample.period(signed: signed), renewal: renewal)
        change(&news)
        return news
    }

    static let cases: [Case] = [
        Case(
            anomaly: .expiryBeforePurchase, news: news { $0.transaction?.expiresDate = Sample.day(-1) }, state: .expired
        ),
        Case(
            anomaly: .expiryBeforePurchase, news: news { $0.transaction?.purchaseDate = Sample.day(30) },
            state: .expired),
        Case(
            anomaly: .revocationBeforePurchase, news: news { $0.transaction?.revocationDate = Sample.day(-2) },
            state: .revoked),
        Case(
            anomaly: .implausibleDate,
            news: news { $0.transaction?.originalPurchaseDate = Date(timeIntervalSince1970: -62_135_596_800) },
            state: .active),
        Case(
            anomaly: .implausibleDate,
            news: news { $0.transaction?.expiresDate = Date(timeIntervalSince1970: 253_402_300_799) }, state: .active),
        Case(
            anomaly: .implausibleDate, news: news { $0.transaction?.originalPurchaseDate = .distantPast },
            state: .active),
        Case(anomaly: .negativePrice, news: news { $0.transaction?.priceMilliunits = -1 }, state: .active),
        Case(
            anomaly: .negativePrice,
            news: news(renewal: Sample.renewal()) { $0.renewal?.renewalPriceMilliunits = .min },
            state: .active),
        Case(anomaly: .quantityBelowOne, news: news { $0.transaction?.quantity = 0 }, state: .active),
        Case(anomaly: .renewalOfOtherProduct, news: news(renewal: Sample.renewal(product: "lead")), state: .active),
        Case(
            anomaly: .renewalOfOtherPurchase,
            news: news(renewal: Sample.renewal()) { $0.renewalOriginalTransactionId = "999" }, state: .active),
        Case(
            anomaly: .graceWithoutEnd,
            news: news(status: 4, renewal: Sample.renewal(retry: true)) {
                $0.transaction?.expiresDate = Sample.day(0.5)
            }, state: .billingRetry),
        Case(anomaly: .revocationWithoutDate, news: news("REVOKE", status: 5), state: .revoked),
        Case(anomaly: .revocationWithoutDate, news: news("REFUND", status: 1), state: .active),
        Case(
            anomaly: .reversalWithRevocation,
            news: news("REFUND_REVERSED") { $0.transaction?.revocationDate = Sample.day(3) }, state: .revoked),
        Case(anomaly: .expiredBeforeEnd, news: news("EXPIRED/VOLUNTARY", status: 2, signed: 5), state: .expired),
        Case(anomaly: .subscriptionWithoutEnd, news: news { $0.transaction?.expiresDate = nil }, state: .unknown),
        Case(anomaly: .unknownEvent, news: news("DID_DREAM"), state: .active),
        Case(anomaly: .unknownValue, news: news { $0.unknownFields = ["data.status"] }, state: .active),
        Case(anomaly: .unknownValue, news: news { $0.transaction?.productType = "Rental" }, state: .active),
        Case(anomaly: .unknownValue, news: news { $0.transaction?.productType = "" }, state: .active),
        Case(
            anomaly: .unreadableField, news: news { $0.unreadableFields = ["signedTransactionInfo.price"] },
            state: .active),
    ]

    @Test(arguments: cases) func `a contradiction is recorded and has a stated outcome`(given: Case) {
        #expect(given.news.anomalies == [given.anomaly])
        #expect(Anomaly.all(in: [given.news, given.news]) == [given.anomaly])
        #expect(Sample.state(given.news)?.state(at: Sample.day(5)) == given.state)
        #expect(given.anomaly.sentence.hasSuffix("."))
    }

    @Test func `every anomaly has a row`() {
        #expect(Set(Self.cases.map(\.anomaly)) == Set(Anomaly.allCases).subtracting([.otherApp]))
    }

    @Test func `a renewal info that names another purchase is not believed`() {
        let news = Self.news(renewal: Sample.renewal()) { $0.renewalOriginalTransactionId = "999" }
        #expect(Sample.state(news)?.renewal == nil)
        let own = Self.news(renewal: Sample.renewal()) { $0.renewalOriginalTransactionId = "1" }
        #expect(Sample.state(own)?.renewal == Sample.renewal())
    }

    @Test func `which fields are unknown and which unreadable is told in words`() {
        let news = Self.news {
            $0.unknownFields = ["data.status", "signedRenewalInfo.offerType"]
            $0.unreadableFields = ["signedTransactionInfo.price"]
        }
        #expect(
            news.sentence == Self.news().sentence
                + " Unknown values: data.status, signedRenewalInfo.offerType. Unreadable: signedTransactionInfo.price.")
    }

    @Test func `news of another app counts, and the purchase stays with the app that spoke first, in any order`() {
        let own = Sample.news("SUBSCRIBED/INITIAL_BUY", signed: 0, transaction: Sample.period())
        let other = Sample.news(
            "DID_RENEW", signed: 30, transaction: Sample.period("2", from: 30, to: 60), bundleId: "com.example.woods")
        for order in [[own, other], [other, own]] {
            #expect(Anomaly.all(in: order) == [.otherApp])
        }
        #expect(Sample.state(own, other) == Sample.state(other, own))
        #expect(Sample.state(own, other)?.bundleId == "com.example.metals")
        #expect(Sample.state(own, other)?.transaction?.transactionId == "2")
        let learned = Subscription.applying(own, known: Sample.state(other))
        #expect(learned.isAdvance)
        #expect(!Subscription.applying(own, known: learned.subscription).isAdvance)
    }

    @Test func `one transaction id in two environments is two purchases`() {
        let ids = Anomaly.transactionIdsInSeveralEnvironments([
            (.production, "1"), (.sandbox, "1"), (.production, "2"), (.production, "2"),
        ])
        #expect(ids == ["1"])
        #expect(Sample.key("1", .production) != Sample.key("1", .sandbox))
    }

    @Test func `dates and numbers at the ends of what can be written crash nothing`() {
        for seconds in [-Double.greatestFiniteMagnitude, -1e15, 0, 1e15, .greatestFiniteMagnitude, .infinity] {
            let date = Date(timeIntervalSince1970: seconds)
            for eventType in EventType.allCases {
                var news = Sample.news(eventType.rawValue, signed: 0, status: .max)
                news.transaction = TransactionFacts(
                    transactionId: "", productId: "", productType: "Auto-Renewable Subscription", purchaseDate: date,
                    originalPurchaseDate: date, expiresDate: date, quantity: .min, revocationDate: date,
                    revocationReason: .max, offerType: .min, priceMilliunits: .min, signedDate: date)
                news.renewal = RenewalFacts(
                    isInBillingRetry: true, gracePeriodExpiresDate: date, expirationIntent: .min, renewalDate: date,
                    signedDate: date, renewalPriceMilliunits: .min, currency: "EUR")
                let learned = Subscription.applying(news, known: Sample.state(Self.news()))
                #expect(news.anomalies.contains(.quantityBelowOne))
                #expect(!news.sentence.isEmpty && learned.changes.allSatisfy { !$0.sentence.isEmpty })
                let purchase = PurchaseSnapshot(subscription: learned.subscription)
                #expect(Entitlements(of: [purchase], levels: ServiceLevels(), at: date).decisions.count == 1)
                let loyalty = Loyalty([purchase], environment: .production, at: date)
                #expect((0...30).contains(loyalty.paidDays))
            }
        }
    }
}
