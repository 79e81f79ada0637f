import Contracts
import Foundation
import Subscriptions
import TestSupport
import Testing

@Suite struct TransitionTests {
    static let key = SubscriptionKey(environment: .production, originalTransactionId: "1")

    /// PurchaseEvent number `n` in Apple's order. Parts are there or not by the bits of `parts`.
    static func news(_ n: Int, parts: Int = 7, uuid: UUID = UUID()) -> PurchaseEvent {
        let signedDate = Date(milliseconds: 1_700_000_000_000 + Int64(n) * 1000)
        return PurchaseEvent(
            key: key, version: EventVersion(signedDate: signedDate, notificationUUID: uuid),
            bundleId: "com.example.app",
            notificationType: "DID_RENEW", subtype: nil, status: parts & 1 != 0 ? n % 5 + 1 : nil,
            transaction: parts & 2 != 0
                ? TransactionFacts(
                    transactionId: "\(n)", productId: "p\(n % 3)", productType: "Auto-Renewable Subscription",
                    expiresDate: signedDate.addingTimeInterval(60), signedDate: signedDate) : nil,
            renewal: parts & 4 != 0 ? RenewalFacts(autoRenewStatus: n % 2 == 0, signedDate: signedDate) : nil)
    }

    static func state(after news: [PurchaseEvent]) -> Subscription? {
        news.reduce(nil) { Subscription.applying($1, known: $0).subscription }
    }

    @Test func `the first news is all that is known`() {
        let news = Self.news(1)
        let learned = Subscription.applying(news, known: nil)
        #expect(learned.isAdvance)
        #expect(learned.subscription.status == news.status)
        #expect(learned.subscription.transaction == news.transaction)
        #expect(learned.subscription.renewal == news.renewal)
        #expect(learned.changes.contains(Change(fact: .transactionId, from: nil, to: "1")))
    }

    @Test func `older news never overwrites newer`() {
        let known = Self.state(after: [Self.news(6)])
        let learned = Subscription.applying(Self.news(3), known: known)
        var expected = known
        expected?.bundleIdVersion = Self.news(3).version
        #expect(learned.subscription.bundleIdVersion.signedDate == expected?.bundleIdVersion.signedDate)
        expected?.bundleIdVersion = learned.subscription.bundleIdVersion
        #expect(learned.subscription == expected)
        #expect(!learned.isAdvance)
        #expect(learned.changes.isEmpty)
    }

    @Test func `older news still tells what newer news did not hold`() {
        let known = Self.state(after: [Self.news(6, parts: 2)])
        let learned = Subscription.applying(Self.news(3, parts: 5), known: known)
        #expect(learned.isAdvance)
        #expect(learned.subscription.renewal == Self.news(3).renewal)
        #expect(learned.subscription.transaction == known?.transaction)
    }

    @Test func `a repetition changes nothing`() {
        let news = Self.news(1)
        let known = Self.state(after: [news])
        #expect(Subscription.applying(news, known: known) == Transition(unchanged: known))
    }

    @Test func `two pieces signed in the same millisecond end the same in either order`() {
        let (left, right) = (Self.news(1), Self.news(1, parts: 5))
        #expect(Self.state(after: [left, right]) == Self.state(after: [right, left]))
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `any order and any repetition ends in the same state`(seed: UInt64) {
        var generator = SeededGenerator(state: seed)
        let life = (0..<Int.random(in: 2...12, using: &generator)).map {
            Self.news($0 / 2, parts: Int.random(in: 0...7, using: &generator))
        }
        let repeated = life + life.filter { _ in Bool.random(using: &generator) }
        #expect(Self.state(after: repeated.shuffled(using: &generator)) == Self.state(after: life))
    }

    @Test func `a change is written the way a person reads it`() {
        let learned = Subscription.applying(Self.news(2), known: Self.state(after: [Self.news(1)]))
        #expect(
            learned.changes == [
                Change(fact: .status, from: "2", to: "3"),
                Change(fact: .transactionId, from: "1", to: "2"),
                Change(fact: .productId, from: "p1", to: "p2"),
                Change(fact: .expiresDate, from: "2023-11-14T22:14:21.000Z", to: "2023-11-14T22:14:22.000Z"),
                Change(fact: .autoRenewStatus, from: "false", to: "true"),
            ])
    }
}

extension Transition {
    fileprivate init?(unchanged known: Subscription?) {
        guard let known else { return nil }
        self.init(subscription: known, isAdvance: false, changes: [])
    }
}
