import Chassis
import Contracts
import Foundation
import Postgres
import Storage
import StrictJSON
import TestSupport
import Testing

@testable import API
@testable import AppStoreSamples

/// Customers forgotten by a backend.
struct ErasureTests {
    private let customer = "/v1/customers/user-1"

    @Test func `An erased customer has nothing, may not come back under the token, and leaves a certificate`()
        async throws
    {
        try await UploadFixture.with { fixture in
            let path = "?bundleId=\(ForgeryMaterial.bundleId)"
            let made = try await fixture.api.send("PUT", customer + path, key: fixture.key, json: "{}")
            let token = try #require(made.json?["appAccountToken"]?.string.flatMap { UUID(uuidString: $0) })
            let signed = try fixture.transaction(of: token)
            #expect(try await fixture.upload([signed], of: token).access.contains("monthly"))
            try await fixture.apply([fixture.received(signed)])
            #expect(try await fixture.entitlements(of: token).access.contains("monthly"))

            let erased = try await fixture.api.send(
                "POST", "\(customer)/erasure\(path)", key: fixture.key, json: #"{"extent":"erase"}"#)
            #expect(erased.status == 200 && erased.json?["purchases"]?.int64 == 1)
            #expect(erased.json?["payloads"]?.int64 == 1)
            #expect(try await fixture.api.get(customer + path, key: fixture.key).status == 404)
            #expect(try await fixture.entitlements(of: token).access == "[]")
            // The app that still has the token: the purchase has no account.
            let again = try await fixture.upload([signed], of: token)
            #expect(again.status == 409 && again.problem == "conflict")
            let put = try await fixture.api.send(
                "PUT", customer + path, key: fixture.key, json: #"{"appAccountToken":"\#(token.uuidString)"}"#)
            #expect(put.status == 409 && put.json?["detail"]?.string?.contains("erased") == true)
            // By the token, where the id is forgotten: the same certificate.
            let repeated = try await fixture.api.send(
                "POST", "/v1/customers/\(token.uuidString)/erasure\(path)", key: fixture.key,
                json: #"{"extent":"detach"}"#)
            #expect(repeated.json?["certificateId"]?.string == erased.json?["certificateId"]?.string)
            #expect(repeated.json?["extent"]?.string == "erase")
            // The customer begins again, and restores.
            let new = try await fixture.api.send("PUT", customer + path, key: fixture.key, json: "{}")
            let other = try #require(new.json?["appAccountToken"]?.string.flatMap { UUID(uuidString: $0) })
            #expect(other != token)
            let restored = try await fixture.upload([signed], to: "/v1/restores", of: other)
            #expect(restored.access.contains("monthly"))
            #expect(try await fixture.entitlements(of: other).access == restored.access)
        }
    }

    @Test func `A key erases nothing of another app or environment, and no account of which nothing is known`()
        async throws
    {
        try await RunningAPI.with { api in
            let token = UUID().uuidString.lowercased()
            let (first, second) = ("com.example.first", "com.example.second")
            let eraser = try await api.key(bundleIds: [first])
            let other = try await api.key(environment: .production, bundleIds: [second])
            let third = try await api.key(bundleIds: [second])
            // The same customer and token everywhere, with a stored answer of each.
            for key in [eraser, other, third] {
                _ = try await api.send("PUT", customer, key: key, json: #"{"appAccountToken":"\#(token)"}"#)
            }
            let grant = #"{"productId":"pro","reason":"for \#(token)","confirmUnknown":true}"#
            let headers = ["Idempotency-Key": "grant-\(token)"]
            func granted(_ key: String) async throws -> RunningAPI.Answer {
                try await api.send(
                    "POST", "\(customer)/grants", key: key, headers: headers, body: Array(grant.utf8))
            }
            let answers = (try await granted(eraser), try await granted(other), try await granted(third))
            #expect(answers.0.status == 201 && answers.1.status == 201 && answers.2.status == 201)

            let unknown = try await api.send(
                "POST", "/v1/customers/\(UUID().uuidString)/erasure", key: eraser, json: #"{"extent":"erase"}"#)
            #expect(
                unknown.status == 404
                    && unknown.json?["detail"]?.string?.hasPrefix("No customer and no account") == true)
            let erased = try await api.send(
                "POST", "\(customer)/erasure", key: eraser, json: #"{"extent":"erase"}"#)
            #expect(erased.status == 200)
            // The stored answers of the others are the same, that of the erased customer is gone.
            #expect(try await granted(other).body == answers.1.body)
            #expect(try await granted(third).body == answers.2.body)
            #expect(try await granted(eraser).status == 404)
            #expect(try await api.get(customer, key: other).status == 200)
            #expect(try await api.get(customer, key: third).status == 200)
        }
    }

    @Test func `Housekeeping completes an erasure that was interrupted, not while it may be in progress`() async throws
    {
        try await TestDatabase.use { configuration async throws in
            let (connection, clock) = (TestDatabase.connection(configuration), ManualClock())
            func rename(_ name: String, to other: String) async throws {
                try await connection.run(
                    unsafeScript: "alter function \(name)(uuid, store_environment, text, uuid, text) rename to \(other)"
                )
            }
            func unswept() async throws -> Int {
                try await connection.execute(
                    unsafeSQL: "select id from erased_account where unswept_account is not null"
                ).count
            }
            _ = try await CustomerRecords(connection).put(
                CustomerRecords.Customer(
                    id: "user-1", environment: .sandbox, bundleId: SampleState.app, appAccountToken: UUID(),
                    createdAt: clock.now), isTokenGiven: true)
            try await rename("sweep_erased_account", to: "sweep_missing")
            await #expect(throws: PostgresError.self) {
                _ = try await ErasureStore(connection).forget(
                    named: "user-1", of: SampleState.app, in: .sandbox, extent: .erase, id: UUID(), at: clock.now)
            }
            let database = Database([TestDatabase.connection(configuration)])
            let housekeeping = Housekeeping(
                database: database, clock: ProcessClock(now: { clock.now }, instant: { clock.instant }),
                logger: .quiet)
            clock.advance(by: Housekeeping.patience + 1)
            // One that fails is no failure of the turn, which would be repeated at once.
            try await housekeeping.turn()
            #expect(try await unswept() == 1)
            try await rename("sweep_missing", to: "sweep_erased_account")
            clock.advance(by: -2)
            try await housekeeping.turn()
            #expect(try await unswept() == 1)
            clock.advance(by: 2)
            try await housekeeping.turn()
            #expect(try await unswept() == 0)
            await database.close()
            await connection.close()
        }
    }

    @Test func `Housekeeping deletes nothing by a clock that is ahead of the database's`() async throws {
        try await TestDatabase.use { configuration async throws in
            let database = Database([TestDatabase.connection(configuration)])
            let ahead = Date().addingTimeInterval(86_400)
            let housekeeping = Housekeeping(
                database: database, clock: ProcessClock(now: { ahead }, instant: { .now }),
                logger: .quiet)
            await #expect(throws: ClockIsAhead.self) { try await housekeeping.turn() }
            await database.close()
        }
    }

    @Test func `A key erases only with the scope for it`() async throws {
        try await RunningAPI.with { api in
            let key = try await api.key(
                scopes: Set(APIScope.allCases).subtracting([.customersErase]), bundleIds: [SampleState.app])
            _ = try await api.send("PUT", customer, key: key, json: "{}")
            let rejected = try await api.send("POST", "\(customer)/erasure", key: key, json: #"{"extent":"erase"}"#)
            #expect(rejected.problem == "missing-scope")
            #expect(try await api.get(customer, key: key).status == 200)
        }
    }
}
