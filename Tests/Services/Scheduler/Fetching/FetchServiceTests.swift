import Foundation
import Storage
import TestSupport
import Testing

@testable import Chassis
@testable import Scheduler
@testable import SimulatedAppStore

@Suite(.hangLimit) struct FetchServiceTests {
    @Test func `FetchService leaves slots to regular checks while days and what an operator opened take the others`()
        async throws
    {
        try await SchedulerFixture.open { fixture in
            // Apple lets each of them wait.
            fixture.faults.add(ServerFault(kind: .storm, delay: .seconds(300)))
            for reason in [RecoveryWindow.Reason.sweep, .sweep, .sweep, .manual, .manual] {
                _ = try await fixture.open(reason: reason)
            }
            let fetching = FetchService(
                fetch: fixture.fetch(), apps: { [SchedulerFixture.app] }, width: 4,
                holder: UUID(),
                liveness: Health(instant: { .now }).livenessProbe("fetching", limit: .seconds(60)),
                logger: SchedulerFixture.logger)
            try await whileRunning([fetching]) {
                func begun() async throws -> [RecoveryWindow.Reason] {
                    try await RecoveryWindowStore(fixture.connection).windows().filter { $0.attempts > 0 }.map(\.reason)
                }
                let deadline = ContinuousClock.now.advanced(by: .hangLimit)
                while try await begun().count < 3, ContinuousClock.now < deadline {}
                let check = try await fixture.open(reason: .failures)
                let taken = try await ProcessTests.wait(for: check, fixture) { $0.attempts > 0 }
                #expect(taken.attempts == 1)
                #expect(Set(try await begun()) == [.manual, .sweep, .failures])
                #expect(try await begun().count == 4, "two of an operator, one day, and the check")
            }
        }
    }
}
