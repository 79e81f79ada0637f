import Foundation
import StrictJSON
import Testing

@testable import SimulatedAppStore

@Suite struct SimulatedClockTests {
    private static let now = Date(milliseconds: 1_780_000_000_000)

    @Test(arguments: [("31d", 2_678_400.0), ("90s", 90), ("1d12h", 129_600), ("2w", 1_209_600), ("5m", 300)])
    func `Duration is read`(text: String, seconds: Double) { #expect(SimulatedClock.seconds(text) == seconds) }

    @Test(arguments: ["", "d", "31", "31x", "-1d", "1.5d", "0d", "1d2", "9999999999d", "٣d"])
    func `What is no duration is refused`(text: String) { #expect(SimulatedClock.seconds(text) == nil) }

    @Test(arguments: [
        (0.0, "0 seconds"), (300, "5 minutes"), (86_400, "1 day"), (2_678_400, "31 days"),
        (133_261, "1 day 13 hours 1 minute 1 second"),
    ])
    func `Clock says in words how far ahead it is`(seconds: Double, words: String) throws {
        let json = #"{"now": 1780000000000, "aheadMilliseconds": \#(Int64(seconds * 1000)), "sent": 2}"#
        let sentence = ClockAdvance.sentence(try JSONDocument(Array(json.utf8)).root)
        #expect(sentence.contains(", \(words) ahead; 2 notifications"))
    }

    @Test(arguments: [("31d", 2_678_400.0), ("5m", 299.5), ("1d12h", 129_600), ("1s", 0)])
    func `Clock names the argument that moves it as far`(text: String, seconds: Double) {
        #expect(SimulatedClock.argument(seconds) == text)
    }

    @Test func `Clock moves forward, no further than the certificates of the run are valid`() throws {
        let clock = SimulatedClock(base: { Self.now }, file: nil)
        try clock.advance(by: 86_400)
        try clock.advance(by: 86_400)
        #expect(clock.now() == Self.now.addingTimeInterval(172_800))
        #expect(throws: SimulatorError.self) { try clock.advance(by: 399 * 86_400) }
        #expect(throws: SimulatorError.self) { try clock.advance(by: -1) }
        #expect(clock.milliseconds == 172_800_000)
    }

    @Test func `Clock at its limit says in minutes how far ahead it is`() throws {
        let clock = SimulatedClock(base: { Self.now }, file: nil)
        try clock.advance(by: 300)
        let error = #expect(throws: SimulatorError.self) { try clock.advance(by: 400 * 86_400) }
        #expect("\(try #require(error))".contains("0 days and 5 minutes ahead: start the simulator again"))
    }
}
