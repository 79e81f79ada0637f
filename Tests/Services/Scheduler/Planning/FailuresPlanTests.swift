import Foundation
import Storage
import Testing

@testable import Scheduler

@Suite struct FailuresPlanTests {
    static let now = Date(timeIntervalSince1970: 1_760_000_000)
    let plan = FailuresPlan(interval: 300, overlap: 900)

    static func coverage(
        _ kind: Coverage.Kind = .failures, begins: TimeInterval = -10 * 86_400, planned: TimeInterval
    ) -> Coverage {
        Coverage(
            environment: .production, bundleId: "com.example.app", kind: kind,
            beginsAt: now.addingTimeInterval(begins), plannedUntil: now.addingTimeInterval(planned),
            provenUntil: now.addingTimeInterval(planned))
    }

    func from(_ coverage: Coverage, isAsking: Bool = false) -> TimeInterval? {
        plan.due(coverage, isAsking: isAsking, now: Self.now)?.from.timeIntervalSince(Self.now)
    }

    @Test func `asks from the last question on, a little before it, for failures up to now`() throws {
        let scope = try #require(plan.due(Self.coverage(planned: -400), isAsking: false, now: Self.now))
        #expect(scope.from == Self.now.addingTimeInterval(-1300))
        #expect(scope.to == Self.now)
        #expect(scope.onlyFailures)
    }

    @Test func `waits for its time, and for the answer to the last question`() {
        #expect(from(Self.coverage(planned: -299)) == nil)
        #expect(from(Self.coverage(planned: -300)) == -1200)
        #expect(from(Self.coverage(planned: -400), isAsking: true) == nil)
    }

    @Test func `never asks for what came before coverage began, nor for more than Apple lists`() {
        #expect(from(Self.coverage(begins: -500, planned: -500)) == -500)
        let longAgo = plan.due(
            Self.coverage(begins: -400 * 86_400, planned: -300 * 86_400), isAsking: false, now: Self.now)
        #expect(longAgo?.from == Horizon.earliest(.production, now: Self.now))
    }
}
