import Foundation
import Postgres
import Storage
import TestSupport
import Testing

@testable import Scheduler

@Suite(.hangLimit) struct FigureJobTests {
    @Test func `The scheduler computes what waits, and checks the figures once a day`() async throws {
        try await PipelineHarness.with { harness in
            let clock = ManualClock(at: Date(timeIntervalSince1970: 1_760_000_000))
            let store = FigureStore(harness.connection)
            #expect(try await store.status().asOf == nil)
            let check = FigureCheckJob(
                store: store, check: FigureCheck(harness.connection), now: { clock.now }, daysAgo: { 7 },
                logger: SchedulerFixture.logger)
            try await check.turn()
            #expect(try await store.status().checkedAt == nil)
            #expect(try await store.status().uncheckedSince != nil)
            try await FigureJob(store: store, now: { clock.now }).turn()
            #expect(try await store.status().asOf == clock.now)
            try await check.turn()
            let first = clock.now
            #expect(try await store.status().checkedAt == first)
            #expect(try await store.status().uncheckedSince == first)
            #expect(try await store.status().differences == 0)
            clock.advance(by: .seconds(3600))
            try await FigureJob(store: store, now: { clock.now }).turn()
            try await check.turn()
            #expect(try await store.status().checkedAt == first)
            try await harness.connection.run(
                unsafeScript: """
                    insert into insight_day (amount, revenuecat_amount, purchases, count, day, step, environment, bundle_id, kind,
                        currency, product_id, storefront, period, offer)
                    values (1, 1, 1, 1, '2025-01-01', 0, 'Production', 'a', 'new', 'EUR', 'p', '', '', '')
                    """)
            clock.advance(by: .seconds(86_400))
            try await FigureJob(store: store, now: { clock.now }).turn()
            try await check.turn()
            // Of both days that are compared.
            #expect(try await store.status().differences == 2)
        }
    }

    @Test func `A process that another one overtakes ends its turn without work`() async throws {
        try await PipelineHarness.with { harness in
            let job = FigureJob(store: FigureStore(TestDatabase.connection(harness.database)), now: { Date() })
            let other = TestDatabase.connection(harness.database)
            try await other.run(unsafeScript: "begin; update insight_position set turn = turn + 1")
            async let result = job.turn()
            _ = try await TestDatabase.blockedBackends(asking: harness.connection)
            try await other.run(unsafeScript: "commit")
            #expect(try await result == .complete)
            #expect(try await FigureStore(harness.connection).status().asOf == nil)
            await other.close()
        }
    }
}
