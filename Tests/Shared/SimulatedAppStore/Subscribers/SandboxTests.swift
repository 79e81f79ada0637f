import Contracts
import Foundation
import Testing

@testable import SimulatedAppStore

/// What developers report of the sandbox (J1, J2, N7).
@Suite struct SandboxTests {
    private static let now = PopulationTests.now
    private static let app = App(bundleId: "com.example.app", appAppleId: 1, environment: .sandbox)

    /// Without scenarios, which renew as they say.
    private static func events(_ count: Int, _ conditions: Conditions) throws -> [EventPayload] {
        let mix = try ScenarioMix(json: Data(#"{"anything": 1}"#.utf8))
        var population = Population(apps: [app], size: 200, conditions: conditions, mix: mix, seed: 3, now: now)
        return (0..<count).map { _ in population.next(now: now) }
    }

    @Test(arguments: [0, 3, 12])
    func `Subscription renews as often as the setting allows, and no more`(limit: Int) throws {
        var renewals: [String: Int] = [:]
        var most = 0
        for event in try Self.events(20_000, Conditions(sandboxRenewals: limit, hasSandboxQuirks: false)) {
            guard let id = event.purchase?.originalTransactionId else { continue }
            if event.kind.type == .subscribed { renewals[id] = 0 }
            guard event.kind.type == .didRenew, event.kind.subtype != .billingRecovery else { continue }
            renewals[id, default: 0] += 1
            most = max(most, renewals[id] ?? 0)
        }
        #expect(most == limit)
    }

    @Test func `--sandbox-renewals accepts at most twelve`() throws {
        #expect(try RunOptions.parse(["--sandbox-renewals", "12"]).conditions.sandboxRenewals == 12)
        #expect(throws: (any Error).self) { try RunOptions.parse(["--sandbox-renewals", "13"]) }
        #expect(throws: (any Error).self) { try RunOptions.parse(["--sandbox-renewals", "-1"]) }
    }

    @Test func `Account that cannot cancel never turns renewal off`() throws {
        var (cancelled, quirky) = (0, 0)
        for event in try Self.events(20_000, Conditions()) where event.renewal != nil {
            guard event.customer?.quirk == .cannotCancel else { continue }
            quirky += 1
            if event.kind.subtype == .autoRenewDisabled { cancelled += 1 }
        }
        #expect(quirky > 100)
        #expect(cancelled == 0)
    }

    @Test func `Account with many purchases fails to renew after a while`() throws {
        var renewals = 0
        for event in try Self.events(20_000, Conditions()) where event.kind.type == .didRenew {
            guard case .renewalsFail(let limit) = event.customer?.quirk, event.kind.subtype == nil else { continue }
            renewals += 1
            #expect(limit > 0)
        }
        #expect(renewals > 0)
    }

    @Test func `Sandbox accounts without quirks behave as documented`() throws {
        #expect(
            try Self.events(5_000, Conditions(hasSandboxQuirks: false)).allSatisfy { $0.customer?.quirk == nil })
    }
}
