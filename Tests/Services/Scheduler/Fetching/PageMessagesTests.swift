import AppStore
import Contracts
import Foundation
import ServerAPI
import Storage
import Testing

@testable import Scheduler

@Suite struct PageMessagesTests {
    static func item(_ bytes: Int, attempts: [(TimeInterval, String)] = []) -> NotificationHistoryItem {
        var item = NotificationHistoryItem()
        item.signedPayload = Array(repeating: UInt8(ascii: "a"), count: bytes)
        item.sendAttempts = attempts.map { seconds, result in
            var attempt = SendAttempt()
            attempt.attemptDate = FailuresPlanTests.now.addingTimeInterval(seconds)
            attempt.sendAttemptResult = SendAttemptResult(rawValue: result)
            return attempt
        }
        return item
    }

    static func messages(_ items: [NotificationHistoryItem], limit: Int = PageMessages.limit) -> PageMessages {
        PageMessages(items, of: RetryDecisionTests.claim(), fetchedAt: FailuresPlanTests.now, limit: limit)
    }

    @Test func `Page of Apple's history is one message with all its fields`() throws {
        let page = Self.messages([Self.item(19_000, attempts: [(60, "SUCCESS"), (0, "TIMED_OUT"), (9, "NEWS")])])
        let message = try #require(page.messages.first)
        #expect(page.messages.count == 1)
        #expect(message.page == 4)
        #expect(message.part == 0)
        #expect(message.items[0].sendAttempts.map(\.result) == ["SUCCESS", "TIMED_OUT", "NEWS"])
        #expect(page.reachedAt == FailuresPlanTests.now)
        #expect(try HistoryPage(message.record()) == message)
    }

    @Test(arguments: [(-1e15, 0.0), (3600.0, 3600.0), (1e15, 172_800.0)])
    func `Page reaches no further than the request, whatever date an attempt has`(
        attempt: TimeInterval, reached: TimeInterval
    ) {
        let page = Self.messages([Self.item(10, attempts: [(attempt, "SUCCESS")])])
        #expect(page.reachedAt == FailuresPlanTests.now.addingTimeInterval(reached))
    }

    @Test func `Empty page is no message`() {
        #expect(Self.messages([]).messages.isEmpty)
    }

    @Test func `Page that is too large for a record is divided, in order`() {
        let page = Self.messages((1...5).map { Self.item($0 * 1000) }, limit: 8000)
        #expect(page.messages.map { $0.items.map(\.signedPayload.count) } == [[1000, 2000], [3000], [4000], [5000]])
        #expect(page.messages.map(\.part) == [0, 1, 2, 3])
        for message in page.messages { #expect(message.record().value.count < 8000) }
    }

    @Test func `Payload that no record can carry is listed without it`() {
        let page = Self.messages([Self.item(9000), Self.item(10)], limit: 8000)
        #expect(page.messages.flatMap(\.items).map(\.signedPayload.count) == [0, 10])
    }
}
