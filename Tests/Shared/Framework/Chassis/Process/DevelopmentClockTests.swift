import Foundation
import TestSupport
import Testing

@testable import Chassis

@Suite struct DevelopmentClockTests {
    private static let time = Date(timeIntervalSince1970: 1_780_000_000)

    @Test func `Processes with one file agree, and the clock never goes back`() throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let mover = try DevelopmentClock(file: directory.path("clock"))
        let follower = try DevelopmentClock(file: directory.path("clock"))
        #expect(follower.moved(Self.time) == Self.time)
        mover.advance(to: 31 * 86_400_000)
        #expect(follower.moved(Self.time) == Self.time.addingTimeInterval(31 * 86_400))
        mover.advance(to: 1_000)
        #expect(follower.milliseconds == 31 * 86_400_000)
        #expect(try DevelopmentClock(file: directory.path("clock")).milliseconds == 31 * 86_400_000)
    }

    @Test func `Clock of a process that a simulator moves still says what time it is for other machines`() throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let development = try DevelopmentClock(file: directory.path("clock"))
        let clock = ProcessClock(now: { Self.time }, instant: { .now }).moved(by: development)
        development.advance(to: 31 * 86_400_000)
        #expect(clock.now() == Self.time.addingTimeInterval(31 * 86_400))
        #expect(clock.unmoved() == Self.time)
    }

    @Test func `File that holds something else is refused, and one that cannot be made`() throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try Data("tomorrow".utf8).write(to: URL(fileURLWithPath: directory.path("clock")))
        #expect(throws: ConfigurationProblem.self) { try DevelopmentClock(file: directory.path("clock")) }
        #expect(throws: ConfigurationProblem.self) { try DevelopmentClock(file: directory.path("none/clock")) }
    }
}
