import Foundation
import Storage
import Testing

@testable import Recovery

@Suite struct PausesTests {
    @Test func `an app pauses until the time is over, and no other with it`() {
        let pauses = Pauses()
        let other = CoverageStore.App(.sandbox, History.app.bundleId)
        pauses.begin(Pause(length: .seconds(60), reason: "its key"), of: History.app, now: History.now)
        let later = History.now.addingTimeInterval(20)
        #expect(pauses.pause(of: History.app, now: later) == Pause(length: .seconds(40), reason: "its key"))
        #expect(pauses.pause(of: other, now: later) == nil)
        #expect(pauses.pause(of: History.app, now: History.now.addingTimeInterval(60)) == nil)
        #expect(pauses.pause(of: History.app, now: later) == nil)
    }
}
