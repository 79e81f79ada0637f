import Foundation
import Postgres
import StrictJSON
import TestSupport
import Testing

@testable import API
@testable import Storage

/// Consumables through the API: credited once, and the balance of an account.
@Suite(.hangLimit) struct CreditTests {
    @Test func `A consumable is credited by the first request, and the balance falls with its refund`() async throws {
        try await RunningAPI.with { api async throws in
            let id = "2000000000000001"
            let connection = TestDatabase.connection(api.database)
            func store(_ id: String) async throws {
                try await connection.run(
                    unsafeScript: """
                        insert into transaction (
                            signed_at, event_at, purchased_at, notification_uuid, environment, is_upgraded, transaction_id,
                            original_transaction_id, bundle_id, product_id, product_type, quantity)
                        values (now(), now(), now(), gen_random_uuid(), 'Sandbox', false, '\(id)', '\(id)', '\(SampleState.app)',
                            'coins', 'Consumable', 2);
                        insert into purchase_account (
                            decided_at, app_account_token, environment, may_use, bundle_id, original_transaction_id, because)
                        values (now(), '\(SampleState.account)', 'Sandbox', true, '\(SampleState.app)', '\(id)', 'owner')
                        """)
            }
            try await store(id)
            let key = try await api.key(bundleIds: [SampleState.app])
            let path = "/v1/transactions/\(id)/credit"
            let stranger = try await api.send(
                "POST", path, key: key, json: #"{"appAccountToken": "7e3fb204-2017-4a4e-8f3b-ba9876543210"}"#)
            #expect(stranger.problem == "conflict")
            let once = ["Idempotency-Key": id]
            let first = try await api.send("POST", path, key: key, headers: once, body: Array("{}".utf8))
            #expect(first.status == 201 && first.json?["isFirst"]?.bool == true)
            #expect(first.json?["amount"]?.int64 == 2 && first.json?["unit"]?.string == "coins")
            #expect(first.json?["appAccountToken"]?.string == SampleState.account)
            let again = try await api.send("POST", path, key: key, json: "{}")
            #expect(again.status == 200 && again.json?["isFirst"]?.bool == false)
            // The answer was lost: it was stored with the credit.
            let lost = try await api.send("POST", path, key: key, headers: once, body: Array("{}".utf8))
            #expect(lost.status == 201 && lost.json?["isFirst"]?.bool == true)
            #expect(again.json?["creditedAt"]?.int64 == first.json?["creditedAt"]?.int64)
            // A key of all apps names none, so that the answer says whose it is: an erasure must find it.
            let ofAllApps = ["Idempotency-Key": "all"]
            let known = try await api.send(
                "POST", path, key: try await api.key(), headers: ofAllApps, body: Array("{}".utf8))
            #expect(known.status == 200)
            let stored = try await connection.execute(
                unsafeSQL: """
                    select bundle_id, app_account_tokens::text as accounts
                    from api_idempotency
                    where idempotency_key = 'all'
                    """)
            #expect(try stored.first?.optional("bundle_id", as: String.self) == SampleState.app)
            #expect(try stored.first?.value("accounts", as: String.self) == "{\(SampleState.account)}")

            let balances = "/v1/accounts/\(SampleState.account)/balances"
            let held = try await api.get(balances, key: key)
            #expect(held.json?["data"]?.elements.compactMap { $0["balance"]?.int64 } == [2])
            try await connection.run(unsafeScript: "update transaction set revoked_at = now()")
            let left = try await api.get(balances, key: key)
            #expect(left.json?["data"]?.elements.compactMap { $0["balance"]?.int64 } == [0])
            #expect(left.json?["data"]?.elements.compactMap { $0["takenBack"]?.int64 } == [2])

            // The upload is answered before the pipeline has stored the transaction: the key does not keep the refusal.
            let late = "2000000000000002"
            func credit() async throws -> RunningAPI.Answer {
                try await api.send(
                    "POST", "/v1/transactions/\(late)/credit", key: key, headers: ["Idempotency-Key": late],
                    body: Array("{}".utf8))
            }
            #expect(try await credit().problem == "not-found")
            try await store(late)
            #expect(try await credit().status == 201)

            let other = try await api.key(bundleIds: ["com.example.other"])
            #expect(try await api.send("POST", path, key: other, json: "{}").problem == "not-found")
            let foreign = try await api.get(balances, key: other)
            #expect(foreign.json?["data"]?.elements.isEmpty == true)
            let reader = try await api.key(scopes: [.entitlementsRead], bundleIds: [SampleState.app])
            #expect(try await api.send("POST", path, key: reader, json: "{}").problem == "missing-scope")
            await connection.close()
        }
    }
}
