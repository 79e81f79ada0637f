import Foundation
import Storage
import Testing

@testable import Scheduler

@Suite struct OutagesTests {
    static let zero = FailuresPlanTests.now.startOfDay

    static func minute(_ number: Double) -> Date { zero.addingTimeInterval(number * 60) }

    /// - Parameters:
    ///   - alive: minutes with a heartbeat.
    ///   - refusing: those of them with answers of 500 and above.
    static func judge(
        from planned: Double = 0, begins: Double = -100, alive: some Sequence<Int>, refusing: Set<Int> = []
    ) -> Outages? {
        let coverage = Coverage(
            environment: .production, bundleId: "com.example.app", kind: .heartbeats, beginsAt: minute(begins),
            plannedUntil: minute(planned), completeUntil: minute(planned))
        return Outages(
            behind: coverage,
            in: alive.map { .init(start: minute(Double($0)), unavailable: refusing.contains($0) ? 3 : 0) })
    }

    static func outage(_ from: Double, _ to: Double, isSilence: Bool = true) -> Outages.Outage {
        Outages.Outage(from: minute(from), to: minute(to), isSilence: isSilence)
    }

    @Test func `Minutes whose heartbeats may still arrive are no outage yet`() {
        #expect(Self.judge(alive: []) == nil)
        #expect(Self.judge(alive: 0...2) == nil)
        #expect(Self.judge(alive: 0...3)?.until == Self.minute(1))
        #expect(Self.judge(alive: 0...3)?.found == [])
    }

    @Test func `Gap between heartbeats is an outage, once it is over`() {
        #expect(Self.judge(alive: 0...9)?.found == [])
        let judged = Self.judge(alive: Array(0...9) + [40])
        #expect(judged?.found == [Self.outage(10, 40)])
        #expect(judged?.until == Self.minute(40))
        // And is not found again.
        #expect(Self.judge(from: 40, alive: 40...50)?.found == [])
    }

    @Test func `Gap that begins where the last look ended is found`() {
        #expect(Self.judge(from: 10, alive: [30, 31, 32, 33])?.found == [Self.outage(10, 30)])
    }

    @Test func `Time before the first heartbeat ever is no outage`() {
        let judged = Self.judge(from: -100, begins: -100, alive: 50...60)
        #expect(judged?.found == [])
        #expect(judged?.until == Self.minute(58))
    }

    @Test func `Minute in which we could not answer is an outage of failures only`() {
        let judged = Self.judge(alive: 0...20, refusing: [5, 6])
        #expect(judged?.found == [Self.outage(5, 7, isSilence: false)])
    }

    @Test func `Outages close together are one, and a silence within makes it a silence`() {
        // Silent 3-4, 7-8, 11-39; refusing in 10. Silent again 60-61.
        let alive = [0, 1, 2, 5, 6, 9, 10] + Array(40...59) + Array(62...70)
        #expect(Self.judge(alive: alive, refusing: [10])?.found == [Self.outage(3, 40), Self.outage(60, 62)])
    }

    @Test(arguments: [true, false])
    func `Silence is asked for with everything in it, a rejection for its failures, with some minutes around`(
        isSilence: Bool
    ) {
        let coverage = FailuresPlanTests.coverage(.heartbeats, planned: 0)
        let scope = Self.outage(10, 20, isSilence: isSilence).scope(coverage, margin: 300, now: Self.minute(22))
        #expect(scope.from == Self.minute(5))
        #expect(scope.to == Self.minute(22))
        #expect(scope.onlyFailures == !isSilence)
    }
}
