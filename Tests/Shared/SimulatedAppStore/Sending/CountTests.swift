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

    private func access(_ events: [EventPayload]) -> [String: [String]]? {
        var count = Count(reportedPurchases: 1)
        for event in events { count.begin(PendingNotification(event: event)) }
        return count.tally(unfinished: 0, duration: .zero).expectedAccess
    }
}
