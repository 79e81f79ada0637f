import Foundation
import Testing

@testable import AppStore
@testable import Scheduler
@testable import Storage

@Suite struct SetbackTests {
    static let now = FailuresPlanTests.now

    static func claim(restarts: Int = 0, setbacks: Int = 0, reached: TimeInterval? = nil) -> WindowClaim {
        WindowClaim(
            id: UUID(), holder: UUID(), scope: SlicingTests.scope(hours: 48), reason: .sweep, priority: 20, partOf: nil,
            start: now, pageToken: "token", page: 4, reachedAt: reached.map { now.addingTimeInterval($0) },
            setbacks: setbacks, restarts: restarts)
    }

    static func seconds(_ error: APIError, setbacks: Int = 0) -> Int64? {
        guard case .later(let seconds, _) = Setback(error, of: claim(setbacks: setbacks), now: now) else { return nil }
        return seconds
    }

    @Test func `a key that is refused waits a minute and says what to check`() {
        let setback = Setback(.unauthorized("check the key"), of: Self.claim(), now: Self.now)
        #expect(setback == .later(seconds: 60, because: "check the key"))
    }

    @Test func `what somebody between us and Apple refuses, or an app that is not known yet, is asked again`() {
        let proxy = APIError.refused(APIRefusal(endpoint: .notificationHistory, status: 403, body: [], retryAfter: nil))
        #expect(Self.seconds(proxy) == 300)
        let unknown = APIError.refused(
            APIRefusal(
                endpoint: .notificationHistory, status: 404,
                body: Array(#"{"errorCode":4040003,"errorMessage":"App not found."}"#.utf8), retryAfter: nil))
        #expect(Self.seconds(unknown) == 300)
    }

    @Test func `a limit is waited for, not longer than five minutes at a time`() {
        #expect(Self.seconds(.rateLimited(until: Self.now.addingTimeInterval(12.3))) == 13)
        #expect(Self.seconds(.rateLimited(until: Self.now.addingTimeInterval(-5))) == 1)
        #expect(Self.seconds(.rateLimited(until: .distantFuture)) == 300)
    }

    @Test func `what is away is tried again less and less often`() {
        #expect([0, 1, 2, 5, 30].map { Self.seconds(.unreachable("away"), setbacks: $0) } == [1, 2, 4, 32, 300])
    }

    @Test func `what was never sent is not tried again`() {
        let setback = Setback(.invalidRequest("no"), of: Self.claim(), now: Self.now)
        #expect(setback == .impossible(because: "no"))
    }
}
