import Foundation
import Storage
import Testing

@testable import Scheduler

@Suite struct CanaryEvaluationTests {
    static let now = FailuresPlanTests.now

    @Test(arguments: [
        (false, false, nil, Canary.Outcome.unsent), (true, false, "TIMED_OUT", .unreached),
        (true, false, "SUCCESS", .lost),
        (true, true, "SUCCESS", .arrived), (true, true, "TIMED_OUT", .arrived),
    ])
    func `CanaryEvaluation says what became of a canary when its time is up`(
        isSent: Bool, hasArrived: Bool, result: String?, outcome: Canary.Outcome
    ) {
        var canary = Canary(
            environment: .production, bundleId: "com.example.app", token: "t",
            requestedAt: Self.now.addingTimeInterval(-300))
        canary.notificationUUID = isSent ? UUID() : nil
        canary.attemptResult = result
        canary.arrivedAt = hasArrived ? Self.now : nil
        #expect(CanaryEvaluation.outcome(of: canary, patience: 300, now: Self.now) == outcome)
        // Before that only the ledger settles it.
        #expect(
            CanaryEvaluation.outcome(of: canary, patience: 301, now: Self.now) == (hasArrived ? .arrived : nil))
    }

    @Test func `CanaryEvaluation alarms only about causes on our side`() {
        #expect(Canary.Outcome.allCases.filter(\.isAlarming) == [.lost, .unreached])
    }
}
