import Contracts
import Foundation
import Logging
import Postgres
import Storage
import Subscriptions
import TestSupport
import Testing

@testable import StateUpdater

/// A policy whose command was interrupted.
@Suite struct ApplyPolicyTests {
    private static let app = "com.example.app"

    @Test func `ApplyPolicy applies what an interrupted command left, and then waits`() async throws {
        try await TestDatabase.connected { connection in
            let tokens = (1...2).map { "7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7\($0)" }
            let now = Date(milliseconds: 1_767_225_600_000)
            try await CustomerStore(connection).add(
                tokens.map { token in
                    AccountClaim(
                        key: SubscriptionKey(environment: .production, originalTransactionId: "1"), bundleId: Self.app,
                        appTransactionId: nil, appAccountToken: token, evidence: .signed, since: now)
                })
            let users = Statement(unsafeSQL: "select from purchase_account where may_use")
            #expect(try await connection.execute(users).affected == 1)
            try await connection.run(
                unsafeScript: """
                    insert into sharing_policy (environment, bundle_id, policy, decided_at, is_applied, most_accounts)
                    values ('Production', '\(Self.app)', 'allow', now(), false, 2)
                    """)
            let service = ApplyPolicy(
                application: PolicyApplication(connection), now: { now }, logger: Logger.quiet)
            #expect(try await service.turn())
            #expect(try await connection.execute(users).affected == 2)
            #expect(try await service.turn())
            #expect(try await !service.turn())
        }
    }
}
