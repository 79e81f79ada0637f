import Contracts
import Foundation
import Subscriptions
import TestSupport
import Testing

@testable import Storage

/// What another policy would change, before it is set.
@Suite(.serialized) struct PolicyTrialTests {
    @Test(arguments: 580...585 as ClosedRange<UInt64>)
    func `PolicyTrial names the purchases whose accounts then change`(seed: UInt64) async throws {
        try await CustomerStoreTests.use(CustomerStoreTests.entries(seed: seed, mixing: 2)) { connection async throws in
            let sharing = SharingStore(connection)
            let app = CustomerStoreTests.app
            func holders() async throws -> [SubscriptionKey: Set<String>] {
                let policy = try await sharing.policies()[CoverageStore.App(.production, app)] ?? .standard
                var holders: [SubscriptionKey: Set<String>] = [:]
                for account in try await CustomerStoreTests.accounts(connection) {
                    for key in account.keys { holders[key] = Set(account.entitledTokens(to: key, policy)) }
                }
                return holders
            }
            var moved = 0
            for policy in SharingPolicy.allCases {
                let before = try await holders()
                let trial = try await sharing.trial(of: policy, for: app, in: .production)
                #expect(try await holders() == before, "a trial sets nothing")
                #expect(try await sharing.trial(of: policy, for: app, in: .sandbox) == PolicyTrial())
                try await sharing.setPolicy(policy, of: app, in: .production, at: Fixtures.now)
                let after = try await holders()
                #expect(trial.moved == after.keys.filter { before[$0] != after[$0] }.sorted(), "\(policy)")
                moved += trial.moved.count
            }
            #expect(moved > 0)
        }
    }
}
