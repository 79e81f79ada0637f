import Contracts
import Foundation
import Testing

@testable import SimulatedAppStore

@Suite struct RateLimitsTests {
    private let start = SimulatorFixture.beginning

    @Test(arguments: [
        (Endpoint.notificationHistory, 50.0), (.transactionHistory, 50), (.subscriptionStatuses, 50),
        (.extendRenewalDate, 20), (.setAppAccountToken, 20), (.lookUpOrder, 10), (.refundHistory, 10),
        (.requestTestNotification, 1), (.massExtendRenewalDate, 1),
    ])
    func `Every endpoint has Apple's limit, and a tenth of it in the sandbox`(endpoint: Endpoint, rate: Double) {
        for (app, rate) in [(SimulatorFixture.production, rate), (SimulatorFixture.sandbox, rate / 10)] {
            let limits = RateLimits(scale: 1)
            // A hundred seconds at twice the rate.
            let answered = (0..<Int(200 * rate)).count { index in
                limits.take(endpoint, of: app, now: start.addingTimeInterval(Double(index) / (2 * rate))) == nil
            }
            #expect(abs(Double(answered) - 100 * rate) <= 2 * rate + 1)
        }
    }

    @Test func `Client that keeps to the rate is never rejected`() {
        let limits = RateLimits(scale: 1)
        for index in 0..<5_000 {
            let now = start.addingTimeInterval(Double(index) / 50)
            #expect(limits.take(.notificationHistory, of: SimulatorFixture.production, now: now) == nil)
        }
    }

    @Test func `Client that waits until Retry-After is served, and a moment earlier it is not`() throws {
        var bucket = RequestBucket(rate: 10, now: start)
        while bucket.take(now: start) == nil {}
        let rejected = bucket.take(now: start)
        let date = try #require(rejected)
        var early = bucket
        let tooEarly = early.take(now: date.addingTimeInterval(-0.01))
        #expect(tooEarly != nil)
        let onTime = bucket.take(now: date.addingTimeInterval(0.001))
        #expect(onTime == nil)
    }

    @Test func `Apps, environments and endpoints do not use up each other's limits`() {
        let limits = RateLimits(scale: 1)
        while limits.take(.lookUpOrder, of: SimulatorFixture.production, now: start) == nil {}
        #expect(limits.take(.refundHistory, of: SimulatorFixture.production, now: start) == nil)
        #expect(limits.take(.lookUpOrder, of: SimulatorFixture.sandbox, now: start) == nil)
        var other = SimulatorFixture.production
        other.bundleId = "com.example.other"
        #expect(limits.take(.lookUpOrder, of: other, now: start) == nil)
    }

    @Test func `Requests beyond the limit are answered 429 with Retry-After in milliseconds since 1970`() async throws {
        try await SimulatorFixture.open(limitScale: 1) { fixture in
            for _ in 0..<20 { #expect(try await fixture.get("v1/lookup/X").status == 200) }
            let rejected = try await fixture.get("v1/lookup/X")
            #expect(rejected.status == 429)
            #expect(rejected.errorCode == 4_290_000)
            #expect(rejected.errorMessage == "Rate limit exceeded.")
            #expect(rejected.retryAfter == String(fixture.now.milliseconds + 100))
            fixture.move(by: 0.1)
            #expect(try await fixture.get("v1/lookup/X").status == 200)
            #expect(try await fixture.get("v1/lookup/X").status == 429)
        }
    }

    @Test func `Unauthorized request uses up no limit`() async throws {
        try await SimulatorFixture.open(limitScale: 1) { fixture in
            for _ in 0..<40 {
                let rejected = try await fixture.ask("GET", "v1/lookup/X", authorization: "Bearer a.b.c")
                #expect(rejected.status == 401)
            }
            #expect(try await fixture.get("v1/lookup/X").status == 200)
        }
    }
}
