import Foundation
import Synchronization
import Testing

@testable import ServerAPI

@Suite struct AppleTimeTests {
    private static let date = Date(timeIntervalSince1970: 1_780_000_000)

    @Test func `AppleTime knows nothing before the first answer, and a day after the last`() {
        let elapsed = Mutex(Duration.zero)
        let time = AppleTime(elapsed: { elapsed.withLock(\.self) })
        #expect(time.difference(from: Self.date) == nil)
        time.answered(Self.date, after: .zero)
        elapsed.withLock { $0 = .seconds(86_399) }
        #expect(time.difference(from: Self.date.addingTimeInterval(86_399)) == 0)
        elapsed.withLock { $0 = .seconds(86_400) }
        #expect(time.difference(from: Self.date.addingTimeInterval(86_400)) == nil)
    }

    @Test func `AppleTime awaits the first answer for an hour, and no other`() {
        let elapsed = Mutex(Duration.seconds(50))
        let (silent, heard) = (
            AppleTime(elapsed: { elapsed.withLock(\.self) }), AppleTime(elapsed: { elapsed.withLock(\.self) })
        )
        heard.answered(Self.date, after: .zero)
        elapsed.withLock { $0 += .seconds(3599) }
        #expect(silent.isAwaited && !heard.isAwaited)
        elapsed.withLock { $0 += .seconds(1) }
        #expect(!silent.isAwaited && !heard.isAwaited)
    }

    @Test func `AppleTime counts neither the way of an answer nor fractions of a second as a difference`() {
        let time = AppleTime(elapsed: { .zero })
        time.answered(Self.date, after: .seconds(20))
        #expect([0.0, 10, 21].map { time.difference(from: Self.date.addingTimeInterval($0)) } == [0, 0, 0])
        #expect(time.difference(from: Self.date.addingTimeInterval(-7)) == 7)
        #expect(time.difference(from: Self.date.addingTimeInterval(621)) == -600)
    }

    @Test func `AppleTime sees that a calendar was set right, without another answer`() {
        let elapsed = Mutex(Duration.zero)
        let time = AppleTime(elapsed: { elapsed.withLock(\.self) })
        time.answered(Self.date, after: .zero)
        elapsed.withLock { $0 = .seconds(60) }
        #expect(time.difference(from: Self.date.addingTimeInterval(60 + 3601)) == -3600)
        #expect(time.difference(from: Self.date.addingTimeInterval(60)) == 0)
    }

    @Test func `APIAttempt has the date of Apple's answer`() async throws {
        try await APIFixture.scene { _, _ in
            .bytes(
                "HTTP/1.1 200 OK\r\ndate: Thu, 28 May 2026 20:26:40 GMT\r\ncontent-length: 33\r\n\r\n"
                    + #"{"signedTransactionInfo":"a.b.c"}"#)
        } _: { fixture, store in
            _ = try await fixture.client(store.url).transactionInfo("1")
            #expect(fixture.attempts.map(\.serverDate) == [Self.date])
        }
    }
}
