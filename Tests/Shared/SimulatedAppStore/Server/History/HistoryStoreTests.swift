import Contracts
import Foundation
import TestSupport
import Testing

@testable import SimulatedAppStore

@Suite struct HistoryStoreTests {
    private let now = NotificationSignerTests.now

    @Test func `Oldest notifications beyond the limit are dropped, with the purchases that they were about`() throws {
        let historyStore = HistoryStore(limit: 50)
        let signer = try NotificationSignerTests.signer()
        let events = PurchaseFixture.subscriptions(100)
        for event in events {
            historyStore.note(event)
            _ = historyStore.begin(
                NotificationDelivery(notification: try signer.write(PendingNotification(event: event))), at: { now })
        }
        historyStore.withHistory(of: SimulatorFixture.production) { appHistory in
            #expect((50...55).contains(appHistory.range.count))
            #expect(appHistory.range.upperBound == 100)
            let first = events[appHistory.range.lowerBound]
            #expect(appHistory[appHistory.range.lowerBound].uuid == first.uuid.uuidString.lowercased())
            #expect(appHistory.notification(uuid: events[0].uuid.uuidString.lowercased()) == nil)
            #expect(appHistory.subscriber(ofTransaction: events[0].purchase?.transactionId ?? "") == nil)
            #expect(appHistory.subscriber(ofTransaction: first.purchase?.transactionId ?? "") != nil)
        }
    }

    @Test func `Forgery is not part of Apple's history, and a deliberate repetition is no attempt of Apple's`() throws {
        let historyStore = HistoryStore(limit: 50)
        let signer = try NotificationSignerTests.signer()
        let forged = PendingNotification(event: PurchaseFixture.subscriptions(1)[0], invalidVariant: .tampered)
        let invalidVariant = NotificationDelivery(notification: try signer.write(forged))
        historyStore.end(invalidVariant, .accepted, sentAt: historyStore.begin(invalidVariant, at: { now }))
        var genuine = NotificationDelivery(
            notification: try signer.write(PendingNotification(event: PurchaseFixture.subscriptions(2)[1])))
        historyStore.end(genuine, .accepted, sentAt: historyStore.begin(genuine, at: { now }))
        genuine.isRepetition = true
        historyStore.end(genuine, .unavailable, sentAt: historyStore.begin(genuine, at: { now }))
        historyStore.withHistory(of: SimulatorFixture.production) { appHistory in
            #expect(appHistory.range.count == 1)
            #expect(appHistory[0].attempts.map(\.result) == [.success])
        }
    }

    @Test func `Older event that arrives late changes neither status nor transaction`() throws {
        let historyStore = HistoryStore(limit: 50)
        var story = PurchaseFixture()
        let first = story.next(.subscribe)
        let off = story.next(.turnRenewalOff)
        let refund = story.next(.refund)
        for event in [first, refund, off] { historyStore.note(event) }
        let subscriber = historyStore.withHistory(of: SimulatorFixture.production) { $0.subscriber(story.id) }
        #expect(subscriber?.newest == refund)
        #expect(subscriber?.transactions.map(\.purchase) == [try #require(refund.purchase)])
    }

    @Test func `Events of a purchase give the same history and the same export in whatever order they are noted`()
        throws
    {
        var story = PurchaseFixture()
        var events = [story.next(.subscribe), story.next(.turnRenewalOff), story.next(.turnRenewalOn)]
        events += [story.next(.upgrade, product: Product.subscriptions[4]), story.next(.requestRefund)]
        events += [story.next(.refund), story.next(.resubscribe), story.next(.turnRenewalOff)]
        // Two events of one millisecond.
        var twin = events[6]
        twin.uuid = try #require(UUID(uuidString: "00000000-0000-0000-0000-000000000000"))
        twin.access = []
        events.append(twin)
        let inOrder = try noted(events)
        #expect(inOrder.transactions.map(\.purchase.isUpgraded) == [true, false, false])
        #expect(inOrder.access.last?.transactionId == inOrder.transactions.last?.purchase.transactionId)
        for seed in 1...50 {
            var random = SeededGenerator(state: UInt64(seed))
            let shuffled = try noted(events.shuffled(using: &random))
            #expect(shuffled.newest == inOrder.newest, "\(seed)")
            #expect(shuffled.transactions.map(\.purchase) == inOrder.transactions.map(\.purchase), "\(seed)")
            #expect(shuffled.access == inOrder.access, "\(seed)")
            #expect(try export(of: shuffled) == export(of: inOrder), "\(seed)")
        }
    }

    private func noted(_ events: [EventPayload]) throws -> Subscriber {
        let historyStore = HistoryStore(limit: 50)
        for event in events { historyStore.note(event) }
        let id = try #require(events[0].purchase?.originalTransactionId)
        return try #require(historyStore.withHistory(of: SimulatorFixture.production) { $0.subscriber(id) })
    }

    private func export(of subscriber: Subscriber) throws -> [ExportedRecord] {
        ExportedRecord.records(
            of: subscriber.transactions.map(\.purchase), for: try #require(subscriber.newest.customer),
            subscriber.access)
    }

    @Test func `Clock that is set back does not break the order`() throws {
        let historyStore = HistoryStore(limit: 50)
        let signer = try NotificationSignerTests.signer()
        for (event, date) in zip(PurchaseFixture.subscriptions(3), [now, now.adding(-100), now.adding(1)]) {
            _ = historyStore.begin(
                NotificationDelivery(notification: try signer.write(PendingNotification(event: event))), at: { date })
        }
        historyStore.withHistory(of: SimulatorFixture.production) { appHistory in
            #expect(appHistory.range.map { appHistory[$0].firstAttempt } == [now, now, now.adding(1)])
            #expect(appHistory.position(of: now.adding(1)) == 2)
        }
    }
}
