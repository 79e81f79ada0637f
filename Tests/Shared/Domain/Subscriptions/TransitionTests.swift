import Contracts
import Foundation
import Subscriptions
import TestSupport
import Testing

@Suite struct TransitionTests {
    static let key = SubscriptionKey(environment: .production, originalTransactionId: "1")

    /// Event number `n` in Apple's order. The bits of `parts` decide whether it has a status (1), transaction (2) and
    /// renewal info (4).
    static func event(_ n: Int, parts: Int = 7, uuid: UUID = UUID()) -> PurchaseEvent {
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

    static func state(after events: [PurchaseEvent]) -> Subscription? {
        events.reduce(nil) { Subscription.applying($1, known: $0).subscription }
    }

    @Test func `The first event is the whole state`() {
        let event = Self.event(1)
        let transition = Subscription.applying(event, known: nil)
        #expect(transition.didChange)
        #expect(transition.subscription.status == event.status)
        #expect(transition.subscription.transaction == event.transaction)
        #expect(transition.subscription.renewal == event.renewal)
        #expect(transition.changes.contains(Change(fact: .transactionId, from: nil, to: "1")))
    }

    @Test func `An older event never overwrites newer facts`() {
        let known = Self.state(after: [Self.event(6)])
        let transition = Subscription.applying(Self.event(3), known: known)
        var expected = known
        expected?.bundleIdVersion = Self.event(3).version
        #expect(transition.subscription.bundleIdVersion.signedDate == expected?.bundleIdVersion.signedDate)
        expected?.bundleIdVersion = transition.subscription.bundleIdVersion
        #expect(transition.subscription == expected)
        #expect(!transition.didChange)
        #expect(transition.changes.isEmpty)
    }

    @Test func `An older event adds facts that newer events did not hold`() {
        let known = Self.state(after: [Self.event(6, parts: 2)])
        let transition = Subscription.applying(Self.event(3, parts: 5), known: known)
        #expect(transition.didChange)
        #expect(transition.subscription.renewal == Self.event(3).renewal)
        #expect(transition.subscription.transaction == known?.transaction)
    }

    @Test func `A redelivered event changes nothing`() {
        let event = Self.event(1)
        let known = Self.state(after: [event])
        #expect(Subscription.applying(event, known: known) == Transition(unchanged: known))
    }

    @Test func `Two events signed in the same millisecond end in the same state in either order`() {
        let (left, right) = (Self.event(1), Self.event(1, parts: 5))
        #expect(Self.state(after: [left, right]) == Self.state(after: [right, left]))
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `The state is the same after any order and any repetition`(seed: UInt64) {
        var generator = SeededGenerator(state: seed)
        let events = (0..<Int.random(in: 2...12, using: &generator)).map {
            Self.event($0 / 2, parts: Int.random(in: 0...7, using: &generator))
        }
        let repeated = events + events.filter { _ in Bool.random(using: &generator) }
        #expect(Self.state(after: repeated.shuffled(using: &generator)) == Self.state(after: events))
    }

    @Test func `Changes hold dates as ISO 8601 and flags as true and false`() {
        let transition = Subscription.applying(Self.event(2), known: Self.state(after: [Self.event(1)]))
        #expect(
            transition.changes == [
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
        self.init(subscription: known, didChange: false, changes: [])
    }
}
