import Contracts
import Foundation
import Postgres
import Storage
import Subscriptions
import TestSupport
import Testing

@testable import Storekeeper

/// Shared Apple accounts, shown and decided by hand (E6).
@Suite(.serialized) struct CustomersTests {
    static let app = "com.example.app"
    static let tokens = (1...3).map { "7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7\($0)" }

    /// Two accounts on one Apple account, one alone.
    static func use(_ body: @Sendable (PostgresConnection, [String: String]) async throws -> Void) async throws {
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            let ledger = SampleLedger(connection: connection)
            for (number, uuid) in [SampleLedger.bought, SampleLedger.renewed, SampleLedger.strange].enumerated() {
                try await ledger.add(
                    uuid, "SUBSCRIBED", "INITIAL_BUY",
                    at: CommandOutcome.now.addingTimeInterval(Double(number)), product: "pro", purchase: "\(number)")
            }
            let claims = tokens.enumerated().map { number, token in
                AccountClaim(
                    key: SubscriptionKey(environment: .production, originalTransactionId: "\(number)"), bundleId: app,
                    appTransactionId: number < 2 ? "70" : nil, appAccountToken: token, evidence: .signed,
                    since: CommandOutcome.now.addingTimeInterval(Double(number)))
            }
            try await CustomerStore(connection).add(claims)
            try await body(connection, database.environment)
            await connection.close()
        }
    }

    struct Row: Decodable, Equatable {
        var account: String
        var policy: String
        var isEntitled: Bool
    }

    static func shared(_ environment: [String: String]) async throws -> [Row] {
        let outcome = await CommandOutcome.of(["customers", "shared", "--json"], environment: environment)
        #expect(outcome.code == 0, "\(outcome.errorOutput)")
        return try outcome.json()
    }

    @Test func `customers lists accounts that are served and rejected, with the policy`() async throws {
        try await Self.use { _, environment async throws in
            let outcome = await CommandOutcome.of(["customers", "shared"], environment: environment)
            #expect(outcome.code == 0, "\(outcome.errorOutput)")
            let lines = outcome.text.split(separator: "\n").map(String.init)
            #expect(lines.count == 3)
            #expect(lines[1].contains(Self.tokens[0]) && lines[1].hasSuffix("firstWins  entitled"), "\(lines)")
            #expect(lines[2].contains(Self.tokens[1]) && lines[2].hasSuffix("firstWins  denied"), "\(lines)")
            let first = await CommandOutcome.of(["customers", "shared", "--limit", "1"], environment: environment)
            #expect(first.text.split(separator: "\n").map(String.init) == Array(lines.prefix(2)))
            let sandbox = await CommandOutcome.of(
                ["customers", "shared", "--environment", "Sandbox"], environment: environment)

            #expect(sandbox.text == "No Apple account is shared in Sandbox.")
        }
    }

    @Test func `Policy is shown, set and obeyed at once, and the trail says who set it`() async throws {
        try await Self.use { connection, environment async throws in
            let policy = ["customers", "policy", "--app", Self.app, "--environment", "Production"]
            let shown = await CommandOutcome.of(policy, environment: environment)
            #expect(shown.text == "com.example.app Production: firstWins (the default)")
            for (name, served) in [
                ("allow", [true, true]), ("refuse", [false, false]), ("firstWins", [true, false]),
            ] {
                let set = await CommandOutcome.of(
                    policy + [name, "--note", "as agreed"], environment: environment)
                #expect(set.text == "com.example.app Production: \(name)", "\(set.errorOutput)")
                let rows = try await Self.shared(environment)
                #expect(rows.map(\.isEntitled) == served)
                #expect(rows.allSatisfy { $0.policy == name })
            }
            let auditLog = try await OperatorActionStore(connection).actions(on: ["Production \(Self.app)"])
            #expect(auditLog.map(\.actor) == ["olga", "olga", "olga"])
            let wrong = await CommandOutcome.of(
                ["customers", "policy", "--app", Self.app, "sometimes"], environment: environment)
            #expect(wrong.code == 64)
        }
    }

    @Test func `Policy says how many accounts may claim one Apple account, and those beyond share no longer`()
        async throws
    {
        try await Self.use { _, environment async throws in
            let policy = ["customers", "policy", "--app", Self.app, "--environment", "Production"]
            func text(_ arguments: [String]) async -> String {
                await CommandOutcome.of(policy + arguments, environment: environment).text
            }
            #expect(await text(["allow"]) == "com.example.app Production: allow")
            #expect(try await Self.shared(environment).map(\.isEntitled) == [true, true])
            #expect(
                await text(["allow", "--most-accounts", "1", "--dry-run"]) == """
                    com.example.app Production: allow; with allow 2 of 2 purchases and 0 of 0 app transactions on shared Apple \
                    accounts would change their entitled account, such as 0, 1
                    """)
            #expect(
                await text(["allow", "--most-accounts", "1"])
                    == "com.example.app Production: allow, at most 1 account on one Apple account")
            #expect(try await Self.shared(environment).map(\.isEntitled) == [true, false])
            // A command that does not name the number keeps it.
            #expect(
                await text(["allow", "--dry-run"]) == """
                    com.example.app Production: allow, at most 1 account on one Apple account; with allow 0 of 2 purchases and 0 of 0 \
                    app transactions on shared Apple accounts would change their entitled account
                    """)
            #expect(
                await text(["allow"]) == "com.example.app Production: allow, at most 1 account on one Apple account")
            #expect(try await Self.shared(environment).map(\.isEntitled) == [true, false])
            #expect(await text(["allow", "--most-accounts", "10"]) == "com.example.app Production: allow")
            #expect(try await Self.shared(environment).map(\.isEntitled) == [true, true])
            for wrong in [["--most-accounts", "3"], ["allow", "--most-accounts", "0"]] {
                #expect(await CommandOutcome.of(policy + wrong, environment: environment).code == 64)
            }
        }
    }

    @Test func `Policy can be tried without being set, for one environment`() async throws {
        try await Self.use { _, environment async throws in
            let tried = await CommandOutcome.of(
                ["customers", "policy", "--app", Self.app, "refuse", "--dry-run"], environment: environment)
            #expect(
                tried.text == """
                    com.example.app Production: firstWins (the default); with refuse 2 of 2 purchases and 0 of 0 app \
                    transactions on shared Apple accounts would change their entitled account, such as 0, 1
                    com.example.app Sandbox: firstWins (the default); with refuse 0 of 0 purchases and 0 of 0 app transactions \
                    on shared Apple accounts would change their entitled account
                    """, "\(tried.errorOutput)")
            #expect(try await Self.shared(environment).map(\.isEntitled) == [true, false])
            let nothing = await CommandOutcome.of(
                ["customers", "policy", "--app", Self.app, "--dry-run"], environment: environment)
            #expect(nothing.code == 64)
            let set = await CommandOutcome.of(
                ["customers", "policy", "--app", Self.app, "--environment", "Sandbox", "refuse"],
                environment: environment)
            #expect(set.text == "com.example.app Sandbox: refuse")
            #expect(try await Self.shared(environment).map(\.isEntitled) == [true, false])
        }
    }

    @Test func `App that the scheduler does not know is told of, for it is mostly a typo`() async throws {
        try await Self.use { connection, environment async throws in
            let policy = ["customers", "policy", "--app", Self.app]
            #expect(await CommandOutcome.of(policy, environment: environment).errorOutput == "")
            try await connection.run(
                unsafeScript: """
                    insert into coverage (environment, bundle_id, kind, begins_at, planned_until, complete_until)
                    values ('Production', '\(Self.app)', 'failures', now(), now(), now())
                    """)
            #expect(await CommandOutcome.of(policy, environment: environment).errorOutput == "")
            let typo = await CommandOutcome.of(
                ["customers", "policy", "--app", "com.nosuch"], environment: environment)
            #expect(typo.code == 0 && typo.errorOutput.contains("The scheduler does not know com.nosuch"))
        }
    }

    @Test func `Account that was chosen is served in the place of the first, until that is taken back`() async throws {
        try await Self.use { _, environment async throws in
            let choose = [
                "customers", "choose", "--app", Self.app, "--environment", "Production", Self.tokens[1].uppercased(),
            ]
            let chosen = await CommandOutcome.of(choose, environment: environment)
            #expect(chosen.code == 0, "\(chosen.errorOutput)")
            #expect(chosen.text.contains("that it claims later, until the choice is undone"))
            #expect(try await Self.shared(environment).map(\.isEntitled) == [false, true])
            struct Page: Decodable {
                var appAccountToken: String
                var isChosen: Bool
            }
            let undone = await CommandOutcome.of(choose + ["--undo", "--json"], environment: environment)
            #expect(undone.code == 0)
            let page: Page = try undone.json()
            #expect(page.appAccountToken == Self.tokens[1] && !page.isChosen)
            #expect(try await Self.shared(environment).map(\.isEntitled) == [true, false])
            #expect(await CommandOutcome.of(choose + ["--undo"], environment: environment).code == 1)
            let withoutAccount = await CommandOutcome.of(
                ["customers", "choose", "--app", Self.app, "--environment", "Production", "me"],
                environment: environment)
            #expect(withoutAccount.code == 64)
        }
    }
}
