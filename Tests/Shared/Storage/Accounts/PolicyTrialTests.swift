import Contracts
import Foundation
import Postgres
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

    /// A purchase of the app that two accounts have sent, one of them by a copy without Apple's id, too; one that two accounts sent
    /// between which nothing is to decide; and one of a single account.
    @Test func `PolicyTrial names the app transactions whose accounts then change`() async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            let (sharing, apps) = (SharingStore(connection), AccountAppStore(connection))
            let app = CustomerStoreTests.app
            let digest = AccountAppStore.digestPrefix + "a"
            let tokens = CustomerStoreTests.tokens.compactMap { UUID(uuidString: $0) }
            func send(
                _ identity: String, of account: Int, _ evidence: ClaimEvidence = .signed, isRestore: Bool = false,
                version: String = "1"
            ) async throws {
                try await apps.add(
                    AccountAppStore.AccountApp(
                        environment: .production, bundleId: app, appAccountToken: tokens[account], identity: identity,
                        evidence: evidence, originalApplicationVersion: version, originalPurchaseDate: Fixtures.now,
                        recordedAt: Fixtures.now), isRestore: isRestore)
            }
            func holders() async throws -> [String: Set<UUID>] {
                let rows = try await connection.execute(
                    unsafeSQL: "select identity, app_account_token, is_entitled from account_app")
                return try rows.reduce(into: [:]) { holders, row in
                    let identity: String = try row.value("identity")
                    let customer = identity == digest ? "701" : identity
                    if try row.value("is_entitled") {
                        holders[customer, default: []].insert(try row.value("app_account_token"))
                    }
                }
            }
            try await send(digest, of: 0)
            try await send("701", of: 0)
            try await send("701", of: 1)
            try await sharing.setPolicy(.lastRestoreWins, of: app, in: .production, at: Fixtures.now)
            try await send("702", of: 2, version: "2")
            try await send("702", of: 3, .device, version: "2")
            try await send("702", of: 2, isRestore: true, version: "2")
            try await send("703", of: 4, version: "3")
            var moved = 0
            for policy in SharingPolicy.allCases + [.lastRestoreWins] {
                let before = try await holders()
                let trial = try await sharing.trial(of: policy, for: app, in: .production)
                #expect(try await holders() == before, "a trial sets nothing")
                #expect(trial.sharedApps == 2 && trial.shared == 0)
                try await sharing.setPolicy(policy, of: app, in: .production, at: Fixtures.now)
                let after = try await holders()
                #expect(trial.movedApps == ["701", "702", "703"].filter { before[$0] != after[$0] }, "\(policy)")
                moved += trial.movedApps.count
            }
            #expect(moved > 0)
            let one = try await sharing.trial(of: .allow, mostAccounts: 1, for: app, in: .production)
            #expect(one.movedApps == ["702"], "the account that restored it is the second by its evidence")
            #expect(try await sharing.trial(of: .allow, for: app, in: .sandbox) == PolicyTrial())
        }
    }
}
