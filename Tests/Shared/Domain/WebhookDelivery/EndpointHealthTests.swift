import Foundation
import TestSupport
import Testing

@testable import WebhookDelivery

@Suite struct EndpointHealthTests {
    static let start = Date(timeIntervalSince1970: 1_765_000_000)

    @Test func `An endpoint is failing after five failures in a row, and a success ends that`() {
        var health = EndpointHealth(nextProbeAt: Self.start)
        for _ in 0..<4 { #expect(health.failed("answered 500", at: Self.start) == .none) }
        #expect(!health.isFailing && health.succeeded(at: Self.start) == .none && health.failures == 0)
        for _ in 0..<5 { #expect(health.failed("answered 500", at: Self.start) == .none) }
        #expect(health.isFailing && health.failingSince == Self.start && health.lastFault == "answered 500")
        #expect(health.succeeded(at: Self.start) == .recovered)
        #expect(!health.isFailing && health.failingSince == nil && health.lastFault == nil)
    }

    @Test func `Probes of a failing endpoint are 5 seconds apart, doubled up to 15 minutes`() {
        var health = EndpointHealth(nextProbeAt: Self.start)
        var delays: [Double] = []
        for _ in 0..<16 {
            _ = health.failed("", at: Self.start)
            if health.isFailing { delays.append(health.nextProbeAt.timeIntervalSince(Self.start)) }
        }
        #expect(delays == [5, 10, 20, 40, 80, 160, 320, 640, 900, 900, 900, 900])
    }

    @Test func `An endpoint that fails for five days is disabled, and not a moment earlier`() {
        let clock = ManualClock(at: Self.start)
        var health = EndpointHealth(nextProbeAt: Self.start)
        var effect = EndpointHealth.Effect.none
        var probes = 0
        while effect == .none {
            effect = health.failed("no answer", at: clock.now)
            probes += 1
            if effect == .none {
                #expect(clock.now < Self.start.addingTimeInterval(5 * 86_400))
                clock.advance(by: max(1, health.nextProbeAt.timeIntervalSince(clock.now)))
            }
        }
        #expect(effect == .disabled(.failing) && health.disabledAt == clock.now)
        #expect(clock.now.timeIntervalSince(Self.start) >= 5 * 86_400)
        #expect(clock.now.timeIntervalSince(Self.start) < 5 * 86_400 + 900)
        #expect(480...500 ~= probes, "\(probes)")
    }

    @Test func `A failed test and an outage of an hour days later do not disable an endpoint`() {
        var health = EndpointHealth(nextProbeAt: Self.start)
        // Nothing was sent after it: the endpoint is quiet, or what was sent was answered 429.
        #expect(health.failed("answered 502", at: Self.start) == .none)
        let outage = Self.start.addingTimeInterval(6 * 86_400)
        for minute in 0..<60 {
            #expect(health.failed("answered 502", at: outage.addingTimeInterval(Double(minute) * 60)) == .none)
        }
        #expect(health.isFailing && health.disabledBecause == nil)
    }

    @Test func `410 disables at once`() {
        var health = EndpointHealth(nextProbeAt: Self.start)
        #expect(health.gone(at: Self.start) == .disabled(.gone))
        #expect(health.disabledBecause == .gone)
    }

    @Test func `Retry-After pauses for an hour at most, and a shorter one takes nothing back`() {
        var health = EndpointHealth(nextProbeAt: Self.start)
        health.throttled(for: 7200, at: Self.start)
        #expect(health.pausedUntil == Self.start.addingTimeInterval(3600) && health.failures == 0)
        health.throttled(for: 5, at: Self.start)
        #expect(health.isPaused(at: Self.start.addingTimeInterval(3599)))
        #expect(!health.isPaused(at: Self.start.addingTimeInterval(3600)))
    }

    @Test func `A success that was under way when the receiver asked for a pause does not end it`() {
        var health = EndpointHealth(nextProbeAt: Self.start)
        health.throttled(for: 60, at: Self.start)
        #expect(health.succeeded(at: Self.start.addingTimeInterval(1)) == .none)
        #expect(health.isPaused(at: Self.start.addingTimeInterval(59)))
        _ = health.succeeded(at: Self.start.addingTimeInterval(60))
        #expect(health.pausedUntil == nil)
    }
}
