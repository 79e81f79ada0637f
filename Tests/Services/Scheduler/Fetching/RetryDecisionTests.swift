import Foundation
import Testing

@testable import Scheduler
@testable import ServerAPI
@testable import Storage

@Suite struct RetryDecisionTests {
    static let now = FailuresPlanTests.now

    static func claim(restarts: Int = 0, failures: Int = 0, reached: TimeInterval? = nil) -> WindowClaim {
        WindowClaim(
            id: UUID(), holder: UUID(), scope: WindowPartitionerTests.scope(hours: 48), reason: .sweep, priority: 20,
            partOf: nil,
            start: now, pageToken: "token", page: 4, reachedAt: reached.map { now.addingTimeInterval($0) },
            failures: failures, restarts: restarts)
    }

    static func seconds(_ error: APIError, failures: Int = 0) -> Int64? {
        guard case .later(let seconds, _) = RetryDecision(error, of: claim(failures: failures), now: now) else {
            return nil
        }
        return seconds
    }

    @Test func `Key that is rejected waits a minute and says what to check`() {
        let setback = RetryDecision(.unauthorized("check the key"), of: Self.claim(), now: Self.now)
        #expect(setback == .later(seconds: 60, because: "check the key"))
    }

    @Test func `Window that Apple finds too long ago is cut by a day, and says so`() {
        let tooLong = APIError.rejected(
            APIRejection(
                endpoint: .notificationHistory, status: 400, body: Array(#"{"errorCode":4000012}"#.utf8),
                retryAfter: nil))
        let claim = Self.claim()
        let later = claim.start.addingTimeInterval(HistoryRetention.day)
        #expect(
            RetryDecision(tooLong, of: claim, now: Self.now)
                == .restart(from: later, isCut: true, because: tooLong.description))
    }

    @Test func `RetryDecision retries after a proxy's rejection and for an unknown app`() {
        let proxy = APIError.rejected(
            APIRejection(endpoint: .notificationHistory, status: 403, body: [], retryAfter: nil))
        #expect(Self.seconds(proxy) == 300)
        let unknown = APIError.rejected(
            APIRejection(
                endpoint: .notificationHistory, status: 404,
                body: Array(#"{"errorCode":4040003,"errorMessage":"App not found."}"#.utf8), retryAfter: nil))
        #expect(Self.seconds(unknown) == 300)
    }

    @Test func `RetryDecision retries an unexplained bad request three times, any other never`() {
        func rejected(_ code: Int) -> APIError {
            .rejected(
                APIRejection(
                    endpoint: .notificationHistory, status: 400, body: Array(#"{"errorCode":\#(code)}"#.utf8),
                    retryAfter: nil))
        }
        #expect((0...3).map { Self.seconds(rejected(4_000_000), failures: $0) } == [300, 300, 300, nil])
        #expect(Self.seconds(rejected(4_000_018)) == nil)
    }

    @Test func `Token that leads nowhere is asked with three times more, and then the window restarts`() {
        #expect((0...3).map { Self.seconds(.lostPosition, failures: $0) } == [1, 2, 4, nil])
        var claim = Self.claim(failures: 3)
        let restart = RetryDecision.restart(from: claim.start, because: APIError.lostPosition.description)
        #expect(RetryDecision(.lostPosition, of: claim, now: Self.now) == restart)
        // There is nothing to restart without a token.
        claim.pageToken = nil
        #expect(
            RetryDecision(.lostPosition, of: claim, now: Self.now)
                == .later(seconds: 8, because: APIError.lostPosition.description))
    }

    @Test func `Limit is waited for, not longer than five minutes at a time`() {
        #expect(Self.seconds(.rateLimited(until: Self.now.addingTimeInterval(12.3))) == 13)
        #expect(Self.seconds(.rateLimited(until: Self.now.addingTimeInterval(-5))) == 1)
        #expect(Self.seconds(.rateLimited(until: .distantFuture)) == 300)
    }

    @Test func `RetryDecision retries an unavailable dependency less and less often`() {
        let gateway = APIError.rejected(
            APIRejection(
                endpoint: .notificationHistory, status: 503, body: Array("<html>".utf8), retryAfter: nil))
        for error in [.unreachable("away"), gateway] {
            #expect([0, 1, 2, 5, 30].map { Self.seconds(error, failures: $0) } == [1, 2, 4, 32, 300])
        }
    }

    /// How long after its start a window restarts, and the pause before.
    static func restarted(restarts: Int, reached: TimeInterval?) -> (gained: TimeInterval, pause: Int64)? {
        let expired = APIError.rejected(
            APIRejection(
                endpoint: .notificationHistory, status: 400, body: Array(#"{"errorCode":4000017}"#.utf8),
                retryAfter: nil))
        let claim = claim(restarts: restarts, reached: reached)
        guard case .restart(let start, let pause, _, _) = RetryDecision(expired, of: claim, now: now) else {
            return nil
        }
        return (start.timeIntervalSince(claim.start), pause)
    }

    @Test func `Window whose tokens expire begins at its start twice, and then goes on before where it was`() {
        for restarts in 0...1 { #expect(Self.restarted(restarts: restarts, reached: 7200)?.gained == 0) }
        #expect(Self.restarted(restarts: 2, reached: 7200)?.gained == 6600)
        #expect(Self.restarted(restarts: 2, reached: nil)?.gained == 0)
    }

    @Test func `Window gets on in the end however little its first page holds`() {
        #expect((2...8).map { Self.restarted(restarts: $0, reached: 5)?.gained } == [0, 0, 0, 0, 2.65625, 5, 5])
    }

    @Test func `RetryDecision backs off while a window makes no progress`() {
        let pauses = [0, 1, 2, 5, 8, 9, 60].map { Self.restarted(restarts: $0, reached: nil)?.pause }
        #expect(pauses == [0, 1, 3, 31, 255, 300, 300])
        #expect(Self.restarted(restarts: 60, reached: 7200)?.pause == 1)
    }

    @Test func `RetryDecision gives up a request that could never be sent`() {
        let setback = RetryDecision(.invalidRequest("no"), of: Self.claim(), now: Self.now)
        #expect(setback == .impossible(because: "no"))
    }
}
