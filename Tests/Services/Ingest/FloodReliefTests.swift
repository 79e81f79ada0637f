import Synchronization
import TestSupport
import Testing

@testable import Ingest

@Suite(.hangLimit) struct FloodReliefTests {
    @Test func `Memory is given back for a minute after a flood, and after the next one again`() async {
        let (floods, flood) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let clock = SkippingClock()
        let givenBack = Mutex<[Duration]>([])
        flood.yield()
        await FloodRelief(
            floods: floods,
            wait: { try await clock.sleep(for: $0) },
            giveBack: {
                let isOver = givenBack.withLock {
                    $0.append(clock.now.offset)
                    return $0.count == 24
                }
                // The flood that is reported while memory is given back.
                flood.yield()
                if isOver { flood.finish() }
            }
        ).run()
        let seconds = givenBack.withLock { $0 }.prefix(24)
        #expect(Array(seconds) == (1...24).map { .seconds(5 * $0) })
    }
}
