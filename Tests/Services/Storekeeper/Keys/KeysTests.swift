import Foundation
import Storage
import TestSupport
import Testing

@testable import Storekeeper

/// Keys of the API, made and revoked by hand.
@Suite(.serialized) struct KeysTests {
    struct Row: Decodable, Equatable {
        var id: String
        var name: String
        var environment: String
        var state: String
        var apps: [String]
        var scopes: [String]
    }

    struct Created: Decodable {
        var key: String
        var about: Row
    }

    @Test func `keys create prints a key once that the store then knows by its digest`() async throws {
        try await TestDatabase.use { database in
            let created: Created = try await database.run(
                [
                    "keys", "create", "--name", "backend", "--environment", "Sandbox", "--app", "com.example.app",
                    "--scope", "entitlements:read", "--days", "2", "--json",
                ]).json()
            let secret = try #require(ClientKeySecret(created.key))
            #expect(created.key.hasPrefix("sk_test_"))
            #expect(created.about.scopes == ["entitlements:read"] && created.about.apps == ["com.example.app"])
            let connection = TestDatabase.connection(database)
            let stored = try await ClientKeyStore(connection).active().keys
            #expect(stored.map(\.digest) == [secret.digest])
            #expect(stored.first?.expiresAt == CommandOutcome.now.addingTimeInterval(2 * 86_400))
            let listed = await database.run(["keys", "list"])
            #expect(listed.text.contains("backend") && !listed.text.contains(created.key.suffix(20)))
            await connection.close()
        }
    }

    @Test func `keys revoke ends a key once, and the audit log says who did it`() async throws {
        try await TestDatabase.use { database in
            let text = await database.run(
                [
                    "keys", "create", "--name", "backend", "--environment", "Production", "--all-apps", "--scope",
                    "events:read",
                ])
            #expect(text.code == 0 && text.text.hasPrefix("sk_live_"), "\(text.errorOutput)")
            let rows: [Row] = try await database.run(["keys", "list", "--json"])
                .json()
            #expect(rows.first?.apps == [] && rows.first?.scopes == ["events:read"])
            let id = try #require(rows.first?.id)
            let revoked = await database.run(["keys", "revoke", id, "--json"])
            #expect(revoked.code == 0, "\(revoked.errorOutput)")
            #expect(try revoked.json() == ["revoked": id])
            let again = await database.run(["keys", "revoke", id])
            #expect(again.code == 1 && again.errorOutput.contains("no key \(id)"))
            let connection = TestDatabase.connection(database)
            #expect(try await ClientKeyStore(connection).active().keys.isEmpty)
            let actions = try await OperatorActionStore(connection).actions(on: [id])
            #expect(actions.map(\.operation) == ["keys create", "keys revoke"])
            await connection.close()
        }
    }

    @Test func `The audit log says of which environment and apps a key is, and an app that no one knows is told of`()
        async throws
    {
        struct Entry: Decodable, Equatable {
            var operation: String
            var environment: String?
            var bundleId: String?
        }
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            try await connection.run(
                unsafeScript: """
                    insert into coverage (environment, bundle_id, kind, begins_at, planned_until, complete_until)
                    values ('Sandbox', 'a', 'failures', now(), now(), now())
                    """)
            func make(_ apps: String...) async throws -> String {
                let create = ["keys", "create", "--name", "k", "--scope", "events:read", "--environment"]
                let made = await database.run(create + apps)
                #expect(made.code == 0)
                return made.errorOutput
            }
            #expect(try await !make("Sandbox", "--app", "a").contains("does not know"))
            let told = try await make("Sandbox", "--app", "a", "--app", "b")
            #expect(told.contains("The scheduler does not know b, only a"), "\(told)")
            _ = try await make("Production", "--all-apps")
            let key = try #require(try await ClientKeyStore(connection).all().first { $0.bundleIds == ["a"] })
            let revoked = await database.run(["keys", "revoke", key.id.uuidString])
            #expect(revoked.code == 0, "\(revoked.errorOutput)")
            let log: [Entry] = try await database.run(["audit", "--json"])
                .json()
            #expect(log.filter { $0.operation == "keys revoke" }.map(\.bundleId) == ["a"])
            let created = log.filter { $0.operation == "keys create" }
            #expect(created.count == 4)
            #expect(created.filter { $0.environment == "Sandbox" }.compactMap(\.bundleId).sorted() == ["a", "a", "b"])
            #expect(created.filter { $0.bundleId == nil }.map(\.environment) == ["Production"])
            await connection.close()
        }
    }

    @Test func `keys create ends a key after a year, unless it is told otherwise`() async throws {
        try await TestDatabase.use { database async throws in
            func expiry(_ arguments: String...) async throws -> Date? {
                let made = await database.run(
                    [
                        "keys", "create", "--name", "k", "--environment", "Sandbox", "--app", "a", "--scope",
                        "events:read",
                    ]
                        + arguments)
                #expect(made.code == 0, "\(made.errorOutput)")
                let connection = TestDatabase.connection(database)
                let keys = try await ClientKeyStore(connection).active().keys
                let secret = try #require(ClientKeySecret(made.text.trimmingCharacters(in: .whitespacesAndNewlines)))
                await connection.close()
                return try #require(keys.first { $0.digest == secret.digest }).expiresAt
            }
            #expect(try await expiry() == CommandOutcome.now.addingTimeInterval(365 * 86_400))
            #expect(try await expiry("--days", "3650") == CommandOutcome.now.addingTimeInterval(3650 * 86_400))
            #expect(try await expiry("--no-expiry") == nil)
        }
    }

    @Test(arguments: [
        (["--name", "", "--app", "a", "--scope", "events:read"], "--name"),
        (["--name", "x", "--app", "a", "--scope", "events:read", "--days", "0"], "--days"),
        (["--name", "x", "--app", "a", "--scope", "events:read", "--days", "9", "--no-expiry"], "--no-expiry"),
        (["--name", "x", "--app", "a", "--scope", "everything"], "everything"),
        (["--name", "x", "--app", "a"], "names no scope"), (["--name", "x", "--scope", "events:read"], "names no app"),
        (["--name", "x", "--scope", "events:read", "--app", ""], "--app"),
        (["--name", "x", "--scope", "events:read", "--app", "a", "--all-apps"], "--all-apps"),
        (
            [
                "--name", "x", "--app", "a", "--scope", "events:read", "--note",
                String(repeating: "e\u{301}", count: 501),
            ], "--note"
        ),
    ])
    func `keys create refuses what is no key`(arguments: [String], words: String) async throws {
        let outcome = await CommandOutcome.of(["keys", "create", "--environment", "Sandbox"] + arguments)
        #expect(outcome.code == 64 && outcome.errorOutput.contains(words), "\(outcome.errorOutput)")
    }
}
