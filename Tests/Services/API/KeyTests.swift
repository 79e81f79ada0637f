import Contracts
import Foundation
import Storage
import TestSupport
import Testing

@testable import API

/// Who may ask.
struct KeyTests {
    private let path = "/v1/accounts/7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7b/entitlements"

    @Test func `API answers a key and refuses everything else with a problem`() async throws {
        try await RunningAPI.with { api in
            let key = try await api.key()
            #expect(try await api.get(path, key: key).status == 200)
            #expect(try await api.get(path, key: nil).problem == "missing-key")
            #expect(try await api.get(path, key: "sk_test_nonsense").problem == "invalid-key")
            let unknown = ClientKeySecret(environment: .sandbox, random: Array(repeating: 7, count: 32)).text
            #expect(try await api.get(path, key: unknown).problem == "invalid-key")
            let other = try await api.key(scopes: [.customersRead])
            #expect(try await api.get(path, key: other).problem == "missing-scope")
            #expect(try await api.get(path, key: key).headers["ratelimit"] != nil)
        }
    }

    @Test func `API refuses a revoked key once the table was read again`() async throws {
        try await RunningAPI.with { api in
            let key = try await api.key()
            let connection = TestDatabase.connection(api.database)
            let store = ClientKeyStore(connection)
            let id = try #require(try await store.active().keys.first?.id)
            #expect(try await store.revoke(id, at: api.clock.now))
            #expect(try await !store.revoke(id, at: api.clock.now))
            try await api.keys.turn()
            #expect(try await api.get(path, key: key).problem == "invalid-key")
            await connection.close()
        }
    }

    @Test func `API refuses an expired key although the table was not read again`() async throws {
        try await RunningAPI.with { api in
            let key = try await api.key(expiresAt: api.clock.now.addingTimeInterval(2))
            #expect(try await api.get(path, key: key).status == 200)
            api.clock.advance(by: 2)
            #expect(try await api.get(path, key: key).problem == "invalid-key")
        }
    }

    @Test func `API notes when a key was last used, by the minute`() async throws {
        try await RunningAPI.with { api in
            let key = try await api.key()
            _ = try await api.get(path, key: key)
            try await api.keys.turn()
            let connection = TestDatabase.connection(api.database)
            let used = try await ClientKeyStore(connection).all().first?.lastUsedAt
            #expect(used == Date(timeIntervalSince1970: 1_764_999_960))
            await connection.close()
        }
    }

    @Test func `API answers 429 beyond the rate of a key`() async throws {
        try await RunningAPI.with(quota: 2) { api in
            let key = try await api.key()
            #expect(try await api.get(path, key: key).status == 200)
            #expect(try await api.get(path, key: key).status == 200)
            let rejected = try await api.get(path, key: key)
            #expect(rejected.status == 429 && rejected.problem == "too-many-requests")
            #expect(rejected.headers["retry-after"] == "30")
            try await api.pass(30)
            #expect(try await api.get(path, key: key).status == 200)
        }
    }

    @Test func `ClientKeySecret refuses every changed character`() throws {
        let secret = ClientKeySecret(environment: .production, random: Array(0..<32))
        #expect(secret.text.hasPrefix("sk_live_") && ClientKeySecret(secret.text) == secret)
        #expect("\(secret)" == "sk_live_…")
        for index in secret.text.indices {
            var changed = secret.text
            changed.replaceSubrange(index...index, with: changed[index] == "x" ? "y" : "x")
            #expect(ClientKeySecret(changed) == nil)
        }
    }
}
