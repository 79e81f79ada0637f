import Testing

@testable import SimulatedAppStore

@Suite struct CountTests {
    @Test func `Expected access is that of a purchase's newest event, in whatever order they are sent`() throws {
        var story = PurchaseFixture()
        let events = [story.next(.subscribe), story.next(.renew), story.next(.refund)]
        let expected = try #require(access(events))
        #expect(expected.count == 1)
        for order in [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            #expect(access(order.map { events[$0] }) == expected, "\(order)")
        }
    }

    @Test func `Progress says how much of what is planned was sent and accepted`() {
        let count = Count(reportedPurchases: 0)
        #expect(count.progress(planned: 20) == "0 of 20 notifications sent, 0 accepted")
        #expect(count.progress(planned: 0) == "0 notifications sent, 0 accepted")
    }

    private func access(_ events: [EventPayload]) -> [String: [String]]? {
        var count = Count(reportedPurchases: 1)
        for event in events { count.begin(PendingNotification(event: event)) }
        return count.tally(unfinished: 0, duration: .zero).expectedAccess
    }
}
