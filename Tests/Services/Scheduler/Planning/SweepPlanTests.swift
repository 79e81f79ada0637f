import Foundation
import Storage
import Testing

@testable import Scheduler

@Suite struct SweepPlanTests {
    static let day = 86_400.0
    static let midnight = FailuresPlanTests.now.startOfDay
    let plan = SweepPlan(delay: 3600)

    static func coverage(_ days: Double) -> Coverage {
        let planned = midnight.addingTimeInterval(days * day)
        return Coverage(
            environment: .sandbox, bundleId: "com.example.app", kind: .sweep, beginsAt: planned, plannedUntil: planned,
            completeUntil: planned)
    }

    func due(_ days: Double, at seconds: Double) -> SweepPlan.Due? {
        plan.due(Self.coverage(days), now: Self.midnight.addingTimeInterval(seconds))
    }

    @Test func `Day is due when it is over and Apple has had its time`() {
        #expect(due(-1, at: 3599) == nil)
        #expect(due(-1, at: 3600)?.days == [Self.midnight.addingTimeInterval(-Self.day)])
        #expect(due(-1, at: 3600)?.until == Self.midnight)
        #expect(due(0, at: 3600) == nil)
    }

    @Test func `Days that were left out are made up for`() {
        #expect(due(-3, at: 7200)?.days.count == 3)
        #expect(due(-3, at: 7200)?.until == Self.midnight)
    }

    @Test func `Days that Apple no longer lists are lost, and the others are swept`() throws {
        let due = try #require(self.due(-32, at: 7200))
        // Sandbox: 30 days, less an hour.
        #expect(due.lost.count == 3)
        #expect(due.days.count == 29)
        #expect(due.days.first == Self.midnight.addingTimeInterval(-29 * Self.day))
        #expect(due.until == Self.midnight)
    }

    @Test func `SweepPlan opens a limited number of windows at once`() {
        let due = SweepPlan(delay: 3600, limit: 5).due(
            Self.coverage(-9), now: Self.midnight.addingTimeInterval(7200))
        #expect(due?.days.count == 5)
        #expect(due?.until == Self.midnight.addingTimeInterval(-4 * Self.day))
    }

    @Test func `Sweep asks for all of its day`() {
        let scope = SweepPlan.scope(Self.coverage(-1), day: Self.midnight)
        #expect(scope.to.timeIntervalSince(scope.from) == Self.day)
        #expect(!scope.onlyFailures)
        #expect(scope.notificationType == nil)
    }
}
