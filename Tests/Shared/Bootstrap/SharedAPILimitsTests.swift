import AppStore
import Chassis
import Foundation
import Postgres
import ServerAPI
import TestSupport
import Testing

@testable import Bootstrap

@Suite struct SharedAPILimitsTests {
    private static let app = AcceptedApp(bundleId: "com.example.app", appAppleId: 1, environments: [.sandbox])

    /// The limits of one process; the database's clock goes on by itself, this one skips what is waited for.
    private static func limits(
        _ database: PostgresConfiguration, _ urgency: SharedAPILimits.Urgency, _ clock: SkippingClock
    ) -> any APILimits {
        SharedAPILimits.each(
            TestDatabase.connection(database), share: 0.01, urgency: urgency,
            clock: APIClock(clock: clock, now: { Date() }, random: { 0 }),
            logger: .quiet)(app, .sandbox)
    }

    @Test func `Recovery takes what is free and waits behind customers for half of its time`() async throws {
        try await TestDatabase.use { database async throws in
            let (customer, recovery) = (SkippingClock(), SkippingClock())
            let interactive = Self.limits(database, .interactive, customer)
            let background = Self.limits(database, .background, recovery)
            // Twenty seconds between two questions: a hundredth of the sandbox's five a second.
            try await interactive.admit(.transactionInfo, before: .seconds(60))
            #expect(customer.now.offset == .zero)
            try await interactive.admit(.transactionInfo, before: .seconds(600))
            #expect(customer.now.offset > .seconds(10))
            try await background.admit(.transactionInfo, before: .seconds(600))
            #expect(recovery.now.offset >= .seconds(300))
            // What no other service uses is free at once.
            let other = SkippingClock()
            try await Self.limits(database, .background, other).admit(.subscriptionStatuses, before: .seconds(60))
            #expect(other.now.offset == .zero)
        }
    }

    @Test func `A question that Apple's limit allows only after its deadline is refused at once`() async throws {
        try await TestDatabase.use { database async throws in
            let clock = SkippingClock()
            let limits = Self.limits(database, .interactive, clock)
            try await limits.admit(.transactionInfo, before: .seconds(1))
            await #expect(throws: APIError.self) { try await limits.admit(.transactionInfo, before: .seconds(1)) }
            #expect(clock.now.offset == .zero)
            await limits.close(.subscriptionStatuses, for: .seconds(3600))
            await #expect(throws: APIError.self) {
                try await limits.admit(.subscriptionStatuses, before: .seconds(60))
            }
        }
    }
}
