import Testing

@testable import Postgres

@Suite struct PlanRenewalTests {
    /// The uses, of so many bytes each and from 1, before which plans are dropped.
    private static func due(
        _ sizes: [Int], _ plans: inout PlanRenewal, now: ContinuousClock.Instant, sent: Int = 0
    ) -> [Int] {
        var sent = sent
        return sizes.enumerated().filter { _, size in
            defer { sent += size }
            return plans.isDue(now: now, sent: sent)
        }.map { $0.offset + 1 }
    }

    @Test func `PlanRenewal drops plans after 1, 2, 4, 8, 16 and 32 uses of one size`() {
        let now = ContinuousClock.now
        var plans = PlanRenewal(now: now)
        #expect(Self.due(Array(repeating: 700, count: 40), &plans, now: now) == [2, 3, 5, 9, 17, 33])
    }

    /// Else the plans of a few small batches would be kept while large ones make the tables many times greater.
    @Test func `PlanRenewal drops plans after one large batch behind many small ones`() {
        let now = ContinuousClock.now
        var plans = PlanRenewal(now: now)
        let sizes = Array(repeating: 100, count: 40) + Array(repeating: 10_000, count: 8)
        #expect(Self.due(sizes, &plans, now: now) == [2, 3, 5, 9, 17, 33, 42, 44, 48])
    }

    @Test func `PlanRenewal drops plans once a minute`() {
        let now = ContinuousClock.now
        var plans = PlanRenewal(now: now)
        let due = [0, 61, 122].filter { plans.isDue(now: now + .seconds($0), sent: 0) }
        #expect(due == [61, 122])
    }

    /// Else the first backfill of an installation that was idle for hours would run with the plans of empty tables.
    @Test func `PlanRenewal begins again every minute, however much was sent before`() {
        let now = ContinuousClock.now
        var plans = PlanRenewal(now: now)
        _ = Self.due([1_000_000_000], &plans, now: now)
        let due = Self.due(
            Array(repeating: 700, count: 40), &plans, now: now + .seconds(61), sent: 1_000_000_000)
        #expect(due == [1, 2, 3, 5, 9, 17, 33])
    }
}
