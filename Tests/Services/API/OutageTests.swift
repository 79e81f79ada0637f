import Foundation
import Postgres
import TestSupport
import Testing

@testable import API

/// The database is away.
struct OutageTests {
    private let path = "/v1/accounts/\(SampleState.account)/entitlements"

    @Test func `API without its database answers 503, and refuses a wrong key without asking it`() async throws {
        try await RunningAPI.with { api in
            let key = try await api.key()
            #expect(try await api.get(path, key: key).status == 200)
            try await Self.shutOut(api.database)
            let other = key.last == "A" ? "Q" : "A"
            let wrong = try await api.get(path, key: String(key.dropLast()) + other)
            #expect(wrong.problem == "invalid-key")
            for target in [path, "/v1/search?q=1", "/v1/subscriptions/1", "/v1/transactions/1"] {
                let answer = try await api.get(target, key: key)
                #expect(answer.status == 503 && answer.problem == "unavailable", "\(target)")
                #expect(answer.json?["retryable"]?.bool == true)
                #expect(answer.headers["retry-after"] == "5")
            }
            let grant = try await api.send(
                "PUT", "/v1/customers/u?bundleId=\(SampleState.app)", key: key, json: "{}")
            #expect(grant.status == 503)
        }
    }

    /// Ends every session of the database and lets none begin.
    private static func shutOut(_ database: PostgresConfiguration) async throws {
        var parts = try #require(URLComponents(string: database.url))
        let name = parts.path.dropFirst()
        parts.path = "/postgres"
        var administrator = database
        administrator.url = try #require(parts.string)
        let connection = TestDatabase.connection(administrator)
        try await connection.run(
            unsafeScript: """
                alter database \(name) allow_connections false;
                select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = '\(name)';
                """)
        await connection.close()
    }
}
