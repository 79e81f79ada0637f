import Synchronization
import Testing

@testable import Chassis

@Suite(.hangLimit) struct ShutdownDeadlineTests {
    @Test func `ShutdownDeadline reports when it is over`() async {
        let (over, signal) = AsyncStream.makeStream(of: Void.self)
        let deadline = ShutdownDeadline(limit: .milliseconds(1)) { signal.finish() }
        deadline.arm()
        for await _ in over {}
    }

    @Test func `ShutdownDeadline that is disarmed before it starts never fires`() async {
        let (events, signal) = AsyncStream.makeStream(of: String.self)
        let disarmed = ShutdownDeadline(limit: .zero) { signal.yield("disarmed") }
        disarmed.disarm()
        disarmed.arm()
        let later = ShutdownDeadline(limit: .milliseconds(50)) {
            signal.yield("later")
            signal.finish()
        }
        later.arm()
        var seen: [String] = []
        for await event in events { seen.append(event) }
        #expect(seen == ["later"])
    }
}
