import Contracts
import Foundation
import Storage
import StrictJSON
import Subscriptions
import Testing

@testable import API

/// Customers by the developer's own ids, and access given by hand.
struct CustomerTests {
    private let customer = "/v1/customers/user%2F4711"

    @Test func `Customer gets a token once and keeps it`() async throws {
        try await RunningAPI.with { api in
            let key = try await api.key(bundleIds: [SampleState.app])
            #expect(try await api.get(customer, key: key).problem == "not-found")
            let made = try await api.send("PUT", customer, key: key, json: "{}")
            let token = try #require(made.json?["appAccountToken"]?.string)
            #expect(made.status == 201 && made.json?["customerId"]?.string == "user/4711")
            let again = try await api.send("PUT", customer, key: key, json: "{}")
            #expect(again.status == 200 && again.json?["appAccountToken"]?.string == token)
            let same = try await api.send("PUT", customer, key: key, json: #"{"appAccountToken":"\#(token)"}"#)
            #expect(same.status == 200)
            let other = try await api.send(
                "PUT", customer, key: key, json: #"{"appAccountToken":"\#(SampleState.account)"}"#)
            #expect(other.status == 409 && other.problem == "conflict")
            let stolen = try await api.send(
                "PUT", "/v1/customers/other", key: key, json: #"{"appAccountToken":"\#(token)"}"#)
            #expect(stolen.status == 409)
            #expect(try await api.send("DELETE", customer, key: key).status == 204)
            #expect(try await api.send("DELETE", customer, key: key).status == 404)
        }
    }

    @Test func `Customer has the entitlements of its token`() async throws {
        try await SampleState.with { api, state in
            try await state.subscribed()
            let key = try await api.key(bundleIds: [SampleState.app])
            #expect(try await api.get("\(customer)/entitlements", key: key).status == 404)
            _ = try await api.send(
                "PUT", customer, key: key, json: #"{"appAccountToken":"\#(SampleState.account)"}"#)
            let answer = try await api.get("\(customer)/entitlements", key: key)
            #expect(answer.json?["entitlements"]?.elements.count == 1)
            let wide = try await api.key()
            #expect(try await api.get("\(customer)/entitlements", key: wide).problem == "invalid-request")
            let named = try await api.get("\(customer)/entitlements?bundleId=\(SampleState.app)", key: wide)
            #expect(named.json?["entitlements"]?.elements.count == 1)
        }
    }

    @Test func `Customer has the accounts that share its Apple account, and which of them are entitled`() async throws {
        try await SampleState.with { api, state in
            let key = try await api.key(bundleIds: [SampleState.app])
            #expect(try await api.get("\(customer)/accounts", key: key).problem == "not-found")
            _ = try await api.send(
                "PUT", customer, key: key, json: #"{"appAccountToken":"\#(SampleState.account)"}"#)
            #expect(try await api.get("\(customer)/accounts", key: key).json?["data"]?.elements.isEmpty == true)
            try await state.subscribed()
            let other = "00000000-0000-4000-8000-00000000000b"
            try await CustomerStore(state.connection).add(
                [
                    AccountClaim(
                        key: SubscriptionKey(environment: .sandbox, originalTransactionId: SampleState.purchase),
                        bundleId: SampleState.app, appTransactionId: nil, appAccountToken: other, evidence: .signed,
                        since: state.now)
                ])
            func accounts() async throws -> [JSONValue] {
                try await api.get("\(customer)/accounts", key: key).json?["data"]?.elements ?? []
            }
            let two = try await accounts()
            #expect(two.map { $0["appAccountToken"]?.string } == [SampleState.account, other])
            #expect(two.map { $0["customerId"]?.string } == ["user/4711", nil])
            #expect(two.map { $0["isEntitled"]?.bool } == [true, false])
            #expect(two.last?["since"]?.int64 == state.now.milliseconds)
            try await SharingStore(state.connection).setPolicy(
                .allow, of: SampleState.app, in: .sandbox, at: state.now)
            #expect(try await accounts().map { $0["isEntitled"]?.bool } == [true, true])
        }
    }

    @Test func `Grant gives access from its beginning to its end, or until it is revoked`() async throws {
        try await RunningAPI.with { api in
            let key = try await api.key(bundleIds: [SampleState.app])
            _ = try await api.send("PUT", customer, key: key, json: "{}")
            let now = api.clock.now.milliseconds
            let made = try await api.send(
                "POST", "\(customer)/grants", key: key,
                json: #"{"productId":"pro.monthly","reason":"apology","endsAt":\#(now + 5000),"confirmUnknown":true}"#)
            #expect(made.status == 201)
            let id = try #require(made.json?["grantId"]?.string)
            let entitled = try await api.get("\(customer)/entitlements", key: key)
            let one = try #require(entitled.json?["entitlements"]?.elements.first)
            #expect(one["reason"]?.string == "manualGrant" && one["grantId"]?.string == id)
            #expect(one["until"]?.int64 == now + 5000 && entitled.json?["changesAt"]?.int64 == now + 5000)
            try await api.pass()
            #expect(try await api.send("DELETE", "\(customer)/grants/\(id)", key: key).status == 204)
            let after = try await api.get("\(customer)/entitlements", key: key)
            #expect(after.json?["entitlements"]?.elements.isEmpty == true && after.json?["version"]?.int64 == 2)
            let list = try await api.get("\(customer)/grants", key: key)
            #expect(list.json?["data"]?.elements.first?["revokedAt"]?.int64 == now + 1000)
            let unknown = try await api.send("DELETE", "\(customer)/grants/\(UUID().uuidString)", key: key)
            #expect(unknown.status == 404)
            let backwards = try await api.send(
                "POST", "\(customer)/grants", key: key, json: #"{"productId":"p","reason":"r","endsAt":\#(now)}"#)
            #expect(backwards.json?["errors"]?.elements.first?["pointer"]?.string == "/endsAt")
        }
    }

    @Test func `Grant that is sent twice under one Idempotency-Key is made once`() async throws {
        try await RunningAPI.with { api in
            let key = try await api.key(bundleIds: [SampleState.app])
            _ = try await api.send("PUT", customer, key: key, json: "{}")
            func grant(_ name: String, _ reason: String) async throws -> RunningAPI.Answer {
                try await api.send(
                    "POST", "\(customer)/grants", key: key, headers: ["Idempotency-Key": name],
                    body: Array(#"{"productId":"pro","reason":"\#(reason)","confirmUnknown":true}"#.utf8))
            }
            let first = try await grant("a", "r")
            let second = try await grant("a", "r")
            #expect(first.status == 201 && second.status == 201 && first.body == second.body)
            #expect(second.headers["idempotency-replayed"] == "true")
            let other = try await grant("a", "another")
            #expect(other.status == 422 && other.problem == "idempotency-mismatch")
            #expect(try await grant("b", "r").status == 201)
            #expect(try await api.get("\(customer)/grants", key: key).json?["data"]?.elements.count == 2)
            #expect(try await grant("ü", "r").problem == "malformed-request")
            try await api.pass(Idempotency.retention + 1)
            #expect(try await grant("a", "r").body != first.body)
        }
    }

    @Test func `Request that is in progress is not begun a second time`() async throws {
        try await SampleState.with { api, state in
            let store = IdempotencyStore(state.connection)
            let (id, now) = (UUID(), state.now)
            func claim(at moment: Date) async throws -> IdempotencyStore.Known {
                try await store.claim(
                    "a", of: id, digest: Array(repeating: 1, count: 32), at: moment,
                    expiry: moment.addingTimeInterval(-Idempotency.retention),
                    abandoned: moment.addingTimeInterval(-Idempotency.patience))
            }
            #expect(try await claim(at: now) == .new)
            #expect(try await claim(at: now.addingTimeInterval(59)) == .inProgress)
            // The process that began it has died.
            #expect(try await claim(at: now.addingTimeInterval(61)) == .new)
            try await store.withdraw("a", of: id, claimedAt: now.addingTimeInterval(61))
            #expect(try await claim(at: now.addingTimeInterval(62)) == .new)
            #expect(try await store.delete(before: now.addingTimeInterval(100)) == 1)
        }
    }
}
