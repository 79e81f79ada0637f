import Foundation
import Postgres
import Storage
import TestSupport
import Testing

@testable import Storekeeper

/// Customers by the developer's own ids, on the command line.
@Suite(.serialized) struct OwnIdsTests {
    struct Page: Decodable {
        struct Grant: Decodable {
            var grantId: String
            var productId: String
            var revokedAt: String?
        }
        var customerId: String
        var appAccountToken: String
        var grants: [Grant]
    }

    private static let place = ["--app", "com.example.app", "--environment", "Sandbox"]

    @Test func `customers add makes a token once, and refuses another one`() async throws {
        try await TestDatabase.use { database in
            func run(_ arguments: String...) async -> CommandOutcome {
                await database.run(["customers"] + arguments + Self.place)
            }
            let unknown = await run("show", "user-1")
            #expect(unknown.code == 1 && unknown.errorOutput.contains("storekeeper customers add"))
            let added = await run("add", "user-1")
            #expect(added.code == 0 && UUID(uuidString: added.text) != nil, "\(added.errorOutput)")
            #expect(await run("add", "user-1").text == added.text)
            let conflict = await run("add", "user-1", "--token", UUID().uuidString)
            #expect(conflict.code == 1 && conflict.errorOutput.contains("another token"))
            #expect(await run("add", "user-2", "--token", "x").code == 64)
            let removed = await run("remove", "user-1")
            #expect(removed.code == 0 && removed.text.contains(added.text))
            #expect(await run("show", "user-1").code == 1)
            let audit = await database.run(["audit"])
            #expect(audit.text.contains("customers add") && audit.text.contains("Sandbox com.example.app user-1"))
        }
    }

    @Test func `customers apps shows when the app was first bought, and a pre-order`() async throws {
        try await TestDatabase.use { database in
            func run(_ arguments: String...) async -> CommandOutcome {
                await database.run(["customers"] + arguments + Self.place)
            }
            let token = await run("add", "user-1").text
            #expect(await run("apps", "user-1").text.contains("No app transaction of this account"))
            try await AccountAppStore(TestDatabase.connection(database)).add(
                AccountAppStore.AccountApp(
                    environment: .sandbox, bundleId: "com.example.app",
                    appAccountToken: try #require(UUID(uuidString: token)), identity: "70", evidence: .signed,
                    originalApplicationVersion: "1.2", originalPurchaseDate: Date(timeIntervalSince1970: 1_375_340_400),
                    preorderDate: Date(timeIntervalSince1970: 1_375_000_000), recordedAt: CommandOutcome.now),
                isRestore: false)
            for customer in ["user-1", token] {
                let shown = await run("apps", customer)
                #expect(shown.code == 0 && shown.text.contains("2013-08-01"), "\(shown.text) \(shown.errorOutput)")
                #expect(shown.text.contains("2013-07-28") && shown.text.contains("1.2") && shown.text.contains("yes"))
            }
        }
    }

    @Test func `customers balance shows what was credited, by the unit of products credits`() async throws {
        try await TestDatabase.use { database in
            func run(_ arguments: String...) async -> CommandOutcome {
                await database.run(arguments)
            }
            let app = "com.example.app"
            #expect(await run("products", "credits", "--app", app).text.contains("gives one of itself"))
            #expect(await run("products", "credits", "--app", app, "coins=0:coin").code == 64)
            #expect(await run("products", "credits", "--app", app, "coins=100").code == 64)
            let set = await run("products", "credits", "--app", app, "coins=100:coin")
            #expect(set.code == 0 && set.text.contains("100"), "\(set.errorOutput)")
            let token = "7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7b"
            let balance = ["customers", "balance", token] + Self.place
            let none = await database.run(balance)
            #expect(none.code == 0 && none.text.contains("Nothing was credited"))
            let connection = TestDatabase.connection(database)
            try await connection.run(
                unsafeScript: """
                    insert into transaction (
                        signed_at, event_at, notification_uuid, environment, is_upgraded, transaction_id,
                        original_transaction_id, bundle_id, product_id, product_type, quantity)
                    values (now(), now(), gen_random_uuid(), 'Sandbox', false, '1', '1', '\(app)', 'coins', 'Consumable', 3);
                    insert into purchase_account (
                        decided_at, app_account_token, environment, may_use, bundle_id, original_transaction_id, because)
                    values (now(), '\(token)', 'Sandbox', true, '\(app)', '1', 'owner')
                    """)
            _ = try await CreditStore(connection).credit(
                "1", in: .sandbox, to: nil, among: nil, by: "key", at: CommandOutcome.now)
            await connection.close()
            let shown = await database.run(balance)
            #expect(shown.text.contains("coin") && shown.text.contains("300"), "\(shown.text) \(shown.errorOutput)")
            #expect(await run("products", "credits", "--app", app, "coins=none").text.contains("gives one of itself"))
            #expect(await run("audit").text.contains("products credits"))
        }
    }

    @Test func `Grant by hand is an entitlement until it is revoked`() async throws {
        try await TestDatabase.use { database in
            func run(_ arguments: String...) async -> CommandOutcome {
                await database.run(["customers"] + arguments + Self.place)
            }
            let token = await run("add", "user-1").text
            let entitlements = ["entitlements", "--environment", "Sandbox", token]
            let unknown = await run("grant", "user-1", "pro", "--reason", "ticket 812", "--days", "14")
            #expect(unknown.code == 1 && unknown.errorOutput.contains("--confirm-unknown"), "\(unknown.errorOutput)")
            #expect(await run("grant", "user-1", "pro", "--reason", " ").code == 64)
            #expect(await run("grant", "user-1", "pro", "--reason", "x", "--days", "36501").code == 64)
            let granted = await run(
                "grant", "user-1", "pro", "--reason", "ticket 812", "--days", "14", "--confirm-unknown")
            #expect(granted.code == 0 && granted.text.contains("ticket 812"), "\(granted.errorOutput)")
            #expect(await database.run(entitlements).text.contains("pro"))
            let page: Page = try await run("show", "user-1", "--json").json()
            let grant = try #require(page.grants.first)
            #expect(page.appAccountToken == token && grant.productId == "pro" && grant.revokedAt == nil)
            let wrong = await run("revoke", "user-1", UUID().uuidString)
            #expect(wrong.code == 1 && wrong.errorOutput.contains("has no grant"))
            #expect(await run("revoke", "user-1", grant.grantId).code == 0)
            #expect(await database.run(entitlements).code == 1)
        }
    }
}
