import Testing

@testable import Kafka

@Suite struct MillisecondsTests {
    @Test(
        arguments: [
            (Duration.zero, 0), (.milliseconds(-5), 0), (.nanoseconds(1), 1), (.milliseconds(250), 250),
            (.microseconds(1001), 2), (.seconds(90), 90_000), (.seconds(10_000_000_000), Int32.max),
        ] as [(Duration, Int32)])
    func `Milliseconds are rounded up and bounded`(duration: Duration, milliseconds: Int32) {
        #expect(duration.wholeMilliseconds == milliseconds)
    }
}
