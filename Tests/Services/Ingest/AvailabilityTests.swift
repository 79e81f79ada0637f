import Testing

@testable import Ingest

@Suite struct AvailabilityTests {
    private let start = ContinuousClock.now

    @Test func `Availability reports a partial outage once a minute, with the share of failures`() {
        var availability = Availability(at: start)
        var changes: [Int: Availability.Change] = [:]
        for tenth in 0..<1500 {
            let isWritten = !tenth.isMultiple(of: 4) || tenth < 100
            let change = availability.note(isWritten: isWritten, at: start + .milliseconds(100 * tenth))
            if let change { changes[tenth] = change }
        }
        #expect(
            changes == [
                100: .failing(failed: 1, of: 101), 700: .failing(failed: 149, of: 599),
                1300: .failing(failed: 150, of: 600),
            ])
    }

    @Test func `Availability reports the end of an outage after a minute without a failure`() {
        var availability = Availability(at: start)
        #expect(availability.note(isWritten: false, at: start) == .failing(failed: 1, of: 1))
        #expect(availability.note(isWritten: false, at: start + .seconds(1)) == nil)
        #expect(availability.note(isWritten: true, at: start + .seconds(2)) == nil)
        #expect(availability.note(isWritten: true, at: start + .seconds(60)) == .failing(failed: 1, of: 2))
        #expect(availability.note(isWritten: true, at: start + .seconds(119)) == nil)
        #expect(availability.note(isWritten: true, at: start + .seconds(120)) == .available)
        #expect(availability.note(isWritten: true, at: start + .seconds(200)) == nil)
        #expect(availability.note(isWritten: false, at: start + .seconds(201)) == .failing(failed: 1, of: 2))
    }
}
