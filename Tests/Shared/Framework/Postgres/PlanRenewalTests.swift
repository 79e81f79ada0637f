import Testing

@testable import Postgres

@Suite struct PlanRenewalTests {
    @Test func `PlanRenewal drops plans after 1, 2, 4, 8, 16 and 32 uses`() {
        let now = ContinuousClock.now
        var plans = PlanRenewal(now: now)
        let due = (1...40).filter { _ in plans.isDue(now: now) }
        #expect(due == [2, 3, 5, 9, 17, 33])
    }

    @Test func `PlanRenewal drops plans once a minute`() {
        let now = ContinuousClock.now
        var plans = PlanRenewal(now: now)
        let due = [0, 61, 122].filter { plans.isDue(now: now + .seconds($0)) }
        #expect(due == [61, 122])
    }

    /// Else the first backfill of an installation that was idle for hours would run with the plans of empty tables.
    @Test func `PlanRenewal begins again every minute, however often the connection was used before`() {
        let now = ContinuousClock.now
        var plans = PlanRenewal(now: now)
        for _ in 0..<100_000 { _ = plans.isDue(now: now) }
        let due = (1...40).filter { _ in plans.isDue(now: now + .seconds(61)) }
        #expect(due == [1, 2, 3, 5, 9, 17, 33])
    }
}
