import Foundation
import Storage
import Testing

@testable import Recovery

@Suite struct CircuitBreakerTests {
    @Test func `App pauses until the time is over, and no other with it`() {
        let circuitBreaker = CircuitBreaker()
        let other = CoverageStore.App(.sandbox, History.app.bundleId)
        circuitBreaker.begin(Postponement(length: .seconds(60), reason: "its key"), of: History.app, now: History.now)
        let later = History.now.addingTimeInterval(20)
        #expect(
            circuitBreaker.pause(of: History.app, now: later) == Postponement(length: .seconds(40), reason: "its key"))
        #expect(circuitBreaker.pause(of: other, now: later) == nil)
        #expect(circuitBreaker.pause(of: History.app, now: History.now.addingTimeInterval(60)) == nil)
        #expect(circuitBreaker.pause(of: History.app, now: later) == nil)
    }

    @Test func `App does not pause until a time that the clock showed before it was set back`() {
        let circuitBreaker = CircuitBreaker()
        circuitBreaker.begin(Postponement(length: .seconds(60), reason: "its key"), of: History.app, now: History.now)
        #expect(circuitBreaker.pause(of: History.app, now: History.now.addingTimeInterval(-86_400)) == nil)
        #expect(circuitBreaker.pause(of: History.app, now: History.now) == nil)
    }
}
