import Chassis
import Contracts
import Foundation
import Synchronization
import Testing

@testable import Ingest

@Suite(.hangLimit) struct HeartbeatTests {
    private struct Over: Error {}

    /// A wall clock that waiting moves, until the given number of waits is used up, and that is set back in the first.
    private final class Calendar: Sendable {
        private let state: Mutex<(now: Date, waits: Int, setBack: Double)>

        init(_ now: Double, waits: Int, setBack: Double = 0) {
            state = Mutex((Date(timeIntervalSince1970: now), waits, setBack))
        }

        var now: Date { state.withLock { $0.now } }

        func wait(_ duration: Duration) throws {
            try state.withLock {
                guard $0.waits > 0 else { throw Over() }
                $0.waits -= 1
                $0.now += duration / .seconds(1) - $0.setBack
                $0.setBack = 0
            }
        }
    }

    private let sent = Sent()
    private let tally = Tally()

    private final class Sent: Sendable {
        let beats = Mutex<[IngestHeartbeat]>([])
    }

    private func run(_ calendar: Calendar, send: (@Sendable (IngestHeartbeat) async throws -> Void)? = nil) async throws
    {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let keep: @Sendable (IngestHeartbeat) async throws -> Void = { [sent] beat in
            sent.beats.withLock { $0.append(beat) }
        }
        try await Heartbeat(
            instance: "one", tally: tally, now: { calendar.now }, wait: { try calendar.wait($0) },
            send: send ?? keep, logger: logger
        ).run()
    }

    @Test func `Heartbeat is written once for each minute, also for the last incomplete one`() async throws {
        try await run(Calendar(1_200_030, waits: 2))
        let beats = sent.beats.withLock { $0 }
        #expect(beats.map(\.minute.timeIntervalSince1970) == [1_200_000, 1_200_060, 1_200_120])
        #expect(beats.allSatisfy { $0.instance == "one" })
        #expect(beats.map(\.isLast) == [false, false, true])
    }

    @Test func `Heartbeat is of the minute again once a clock that was ahead is set back`() async throws {
        let year = 525_600 * 60.0
        try await run(Calendar(1_200_030 + year, waits: 2, setBack: year))
        let minutes = sent.beats.withLock { $0.map(\.minute.timeIntervalSince1970) }
        #expect(minutes == [1_200_000 + year, 1_200_060, 1_200_120])
    }

    @Test func `Heartbeat does not repeat a minute after a step back by seconds`() async throws {
        try await run(Calendar(1_200_030, waits: 2, setBack: 5))
        let minutes = sent.beats.withLock { $0.map(\.minute.timeIntervalSince1970) }
        #expect(minutes == [1_200_000, 1_200_060, 1_200_120])
    }

    @Test func `Heartbeat has the answers since the one before`() async throws {
        tally.accepted(after: .zero)
        tally.accepted(after: .zero)
        tally.rejected(.body(.empty))
        tally.rejected(.body(.noSignedPayload))
        tally.rejected(.kafkaUnavailable)
        try await run(Calendar(0, waits: 1))
        let beats = sent.beats.withLock { $0 }
        #expect(beats.map(\.accepted) == [2, 0])
        #expect(beats.map(\.rejected) == [[400: 2, 503: 1], [:]])
    }

    @Test func `Heartbeat that Kafka does not acknowledge is dropped, and the next one is written`() async throws {
        struct Away: Error {}
        let tries = Mutex(0)
        try await run(Calendar(0, waits: 2)) { [sent] beat in
            let number = tries.withLock {
                $0 += 1
                return $0
            }
            if number == 1 { throw Away() }
            sent.beats.withLock { $0.append(beat) }
        }
        #expect(sent.beats.withLock { $0.map(\.minute.timeIntervalSince1970) } == [60, 120])
    }

    @Test(arguments: [(0.0, 0.0), (59.999, 0), (60, 60), (119, 60), (-1, -60)])
    func `Heartbeat of a minute begins at the full minute`(time: Double, minute: Double) {
        #expect(
            Heartbeat.startOfMinute(Date(timeIntervalSince1970: time)) == Date(timeIntervalSince1970: minute))
    }
}
