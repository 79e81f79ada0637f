import Foundation
import TestSupport
import Testing

@testable import AppStore
@testable import ServerAPI

@Suite struct APIRateLimitsTests {
    private static func clock(_ ticking: SkippingClock) -> APIClock {
        APIClock(
            clock: ticking, now: { APIFixture.start.addingTimeInterval(ticking.now.offset / .seconds(1)) },
            random: { 1 })
    }

    /// How long so many requests take, one after the other.
    private static func time(
        of count: Int, _ endpoint: APIEndpoint, in environment: AppStoreEnvironment, scale: Double = 1
    ) async throws -> Duration {
        let ticking = SkippingClock()
        let limits = APIRateLimits(environment: environment, scale: scale, clock: clock(ticking))
        for _ in 0..<count { try await limits.admit(endpoint, before: .seconds(1_000_000)) }
        return ticking.now.offset
    }

    @Test(arguments: APIEndpoint.allCases)
    func `APIRateLimits admit Apple's limit each second, in sandbox a tenth of it`(
        endpoint: APIEndpoint
    ) async throws {
        let count = Int(endpoint.requestsPerSecond) * 100
        let production = try await Self.time(of: count, endpoint, in: .production)
        let sandbox = try await Self.time(of: count / 10, endpoint, in: .sandbox)
        // The burst at the beginning and the last distance are not waited for.
        #expect((.seconds(98)...(.seconds(100))).contains(production), "\(production)")
        #expect((.seconds(80)...(.seconds(100))).contains(sandbox), "\(sandbox)")
    }

    @Test(arguments: APIEndpoint.allCases)
    func `Half of a limit takes twice as long, but a limit of one a second is not divided`(
        endpoint: APIEndpoint
    ) async throws {
        let count = Int(endpoint.requestsPerSecond) * 100
        let half = try await Self.time(of: count, endpoint, in: .production, scale: 0.5)
        let expected: ClosedRange<Duration> =
            endpoint.requestsPerSecond > 1 ? .seconds(196)...(.seconds(200)) : .seconds(98)...(.seconds(100))
        #expect(expected.contains(half), "\(half)")
    }

    @Test func `Apple's limits are those of its documentation`() {
        let limits = Dictionary(grouping: APIEndpoint.allCases, by: \.requestsPerSecond).mapValues(\.count)
        #expect(limits == [50: 10, 20: 2, 10: 3, 5: 3, 1: 19])
    }

    @Test func `Calls of one kind do not wait for another`() async throws {
        let ticking = SkippingClock()
        let limits = APIRateLimits(environment: .sandbox, clock: Self.clock(ticking))
        try await limits.admit(.testNotification, before: .zero)
        try await limits.admit(.transactionInfo, before: .zero)
        #expect(ticking.sleeps.isEmpty)
        await #expect(throws: APIError.rateLimited(until: APIFixture.start.addingTimeInterval(10))) {
            try await limits.admit(.testNotification, before: .seconds(9))
        }
        #expect(ticking.sleeps.isEmpty, "a wait that is too long is not begun")
    }

    @Test func `TokenBucket keeps callers waiting while it is closed`() async throws {
        let answered = AsyncStream<Void>.makeStream()
        let asleep = AsyncStream<Void>.makeStream()
        // Sleeping on this clock lets Apple's answer to another request arrive first.
        let ticking = SkippingClock { pause in
            guard pause < .seconds(1) else { return }
            asleep.continuation.yield()
            for await _ in answered.stream { return }
        }
        let clock = APIClock(clock: ticking, now: { APIFixture.start }, random: { 1 })
        let limits = APIRateLimits(environment: .production, clock: clock)
        for _ in 0..<5 { try await limits.admit(.transactionInfo, before: .seconds(60)) }
        async let waiting: Void = limits.admit(.transactionInfo, before: .seconds(60))
        for await _ in asleep.stream { break }
        await limits.close(.transactionInfo, for: .seconds(30))
        answered.continuation.yield()
        try await waiting
        #expect(ticking.now.offset == .seconds(30))
    }
}
