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
            let created: Created = try await CommandOutcome.of(
                [
                    "keys", "create", "--name", "backend", "--environment", "Sandbox", "--app", "com.example.app",
                    "--scope", "entitlements:read", "--days", "2", "--json",
                ], environment: database.environment
            ).json()
            let secret = try #require(ClientKeySecret(created.key))
            #expect(created.key.hasPrefix("sk_test_"))
            #expect(created.about.scopes == ["entitlements:read"] && created.about.apps == ["com.example.app"])
            let connection = TestDatabase.connection(database)
            let stored = try await ClientKeyStore(connection).all()
            #expect(stored.map(\.digest) == [secret.digest])
            #expect(stored.first?.expiresAt == CommandOutcome.now.addingTimeInterval(2 * 86_400))
            let listed = await CommandOutcome.of(["keys", "list"], environment: database.environment)
            #expect(listed.text.contains("backend") && !listed.text.contains(created.key.suffix(20)))
            await connection.close()
        }
    }

    @Test func `keys revoke ends a key once, and the audit log says who did it`() async throws {
        try await TestDatabase.use { database in
            let text = await CommandOutcome.of(
                ["keys", "create", "--name", "backend", "--environment", "Production"],
                environment: database.environment)
            #expect(text.code == 0 && text.text.hasPrefix("sk_live_"), "\(text.errorOutput)")
            let rows: [Row] = try await CommandOutcome.of(
                ["keys", "list", "--json"], environment: database.environment
            )
            .json()
            let id = try #require(rows.first?.id)
            let revoked = await CommandOutcome.of(["keys", "revoke", id, "--json"], environment: database.environment)
            #expect(revoked.code == 0, "\(revoked.errorOutput)")
            #expect(try revoked.json() == ["revoked": id])
            let again = await CommandOutcome.of(["keys", "revoke", id], environment: database.environment)
            #expect(again.code == 1 && again.errorOutput.contains("no key \(id)"))
            let connection = TestDatabase.connection(database)
            #expect(try await ClientKeyStore(connection).active().keys.isEmpty)
            let actions = try await OperatorActionStore(connection).actions(on: [id])
            #expect(actions.map(\.action) == ["keys create", "keys revoke"])
            await connection.close()
        }
    }

    @Test(arguments: [
        ["--environment", "Sandbox", "--name", ""], ["--environment", "Sandbox", "--name", "x", "--days", "0"],
        ["--environment", "Sandbox", "--name", "x", "--scope", "everything"],
    ])
    func `keys create refuses what is no key`(arguments: [String]) async throws {
        let outcome = await CommandOutcome.of(["keys", "create"] + arguments)
        #expect(outcome.code == 64, "\(outcome.errorOutput)")
    }
}
