import Foundation
import Pipeline
import TestSupport
import Testing

@Suite struct HourlyQuotaTests {
    @Test func `HourlyQuota begins again in the next hour after a record that is dated years ahead`() {
        let clock = ManualClock()
        let quota = HourlyQuota(perHour: 2, now: { clock.now })
        func admitted(at date: Date) -> Int { (0..<5).count { _ in quota.admits("a", at: date) } }
        #expect(admitted(at: clock.now.addingTimeInterval(3 * 365 * 86_400)) == 2)
        #expect(admitted(at: clock.now) == 0)
        clock.advance(by: .seconds(3600))
        #expect(admitted(at: clock.now) == 2)
    }

    @Test func `HourlyQuota begins again after its clock was years ahead and was set back`() {
        let clock = ManualClock()
        let quota = HourlyQuota(perHour: 2, now: { clock.now })
        func admitted() -> Int { (0..<5).count { _ in quota.admits("a", at: clock.now) } }
        clock.setAhead(by: 3 * 365 * 86_400)
        #expect(admitted() == 2)
        clock.setAhead(by: -3 * 365 * 86_400)
        #expect(admitted() == 2)
        #expect(admitted() == 0)
    }

    @Test func `HourlyQuota counts the record of an earlier hour for the newest`() {
        let clock = ManualClock()
        let quota = HourlyQuota(perHour: 2, now: { clock.now })
        func admitted(hoursAgo hours: Double) -> Int {
            (0..<5).count { _ in quota.admits("a", at: clock.now.addingTimeInterval(-3600 * hours)) }
        }
        #expect(admitted(hoursAgo: 0) == 2)
        #expect(admitted(hoursAgo: 5) == 0)
    }
}
