import Contracts
import Foundation
import Storage
import StrictJSON
import Subscriptions
import TestSupport
import Testing

@testable import API
@testable import AppStoreSamples

/// Refund requests through the API: what is asked, answered and set.
@Suite(.hangLimit) struct RefundHandlersTests {
    private static let policy = #"{"rules": [{"name": "else", "then": {"preference": "DECLINE"}}]}"#

    /// An open request about a transaction, with or without the consent of its account; the id of the transaction.
    private static func request(_ api: RunningAPI, consents: Bool = true) async throws -> String {
        let (id, now) = ("2000000000000001", api.clock.now)
        let connection = TestDatabase.connection(api.database)
        let (app, account) = (SampleState.app, try #require(UUID(uuidString: SampleState.account)))
        try await connection.askAboutRefund(of: id, app, in: .sandbox, reason: "LEGAL", at: now)
        try await connection.storeConsumable(id, of: account, app, in: .sandbox)
        if consents { try await connection.storeConsent(of: account, app, in: .sandbox) }
        return id
    }

    @Test func `A request is listed, shown with what the policy would say, and answered by hand once`() async throws {
        try await RunningAPI.with { api async throws in
            let id = try await Self.request(api)
            let key = try await api.key(bundleIds: [SampleState.app])
            #expect(try await api.get("/v1/refund-policies/\(SampleState.app)", key: key).problem == "not-found")
            let put = "/v1/refund-policies/\(SampleState.app)"
            let dry = try await api.send("PUT", put + "?dryRun=true", key: key, json: Self.policy)
            #expect(dry.status == 200 && dry.json?["effects"]?.elements.isEmpty == false)
            let wrong = try await api.send("PUT", put, key: key, json: #"{"rules": [{"name": "a"}]}"#)
            #expect(wrong.problem == "invalid-request" && wrong.json?["detail"]?.string?.contains("rule 1 “a”") == true)
            let set = try await api.send("PUT", put, key: key, json: Self.policy)
            #expect(set.json?["version"]?.int64 == 1 && set.json?["warnings"]?.elements.count == 1)
            #expect(try await api.get(put, key: key).json?["policy"]?["rules"]?.elements.count == 1)
            let listed = try await api.get("/v1/refund-requests?state=open", key: key)
            #expect(listed.json?["data"]?.elements.compactMap { $0["transactionId"]?.string } == [id])
            let shown = try await api.get("/v1/refund-requests/\(id)", key: key)
            #expect(shown.json?["preview"]?["rule"]?.string == "else" && shown.json?["state"]?.string == "open")
            let usage = try await api.send(
                "PUT", "/v1/transactions/\(id)/usage", key: key, json: #"{"consumptionPercentage": 0}"#)
            #expect(usage.status == 204)
            let path = "/v1/refund-requests/\(id)/answer"
            let body = #"{"refundPreference": "GRANT_PRORATED"}"#
            let trial = try await api.send("PUT", path + "?dryRun=true", key: key, json: body)
            #expect(trial.status == 200 && trial.json?["dryRun"]?.bool == true)
            let answered = try await api.send("PUT", path, key: key, json: body)
            #expect(answered.status == 202)
            #expect(answered.json?["body"]?["refundPreference"]?.string == "GRANT_FULL")
            #expect(answered.json?["adjustments"]?.elements.count == 1)
            #expect(try await api.send("PUT", path, key: key, json: body).problem == "already-answered")
            let consumption = try await api.send(
                "POST", "/v1/transactions/\(id)/consumption", key: key,
                json: #"{"deliveryStatus": "DELIVERED", "sampleContentProvided": false}"#)
            #expect(consumption.status == 409 && consumption.problem == "already-answered")
            let waiting = try await api.get("/v1/refund-requests/\(id)", key: key)
            #expect(waiting.json?["state"]?.string == "waiting")
            #expect(waiting.json?["decisions"]?.elements.first?["decidedBy"]?.string == "API key test")
        }
    }

    @Test func `Without consent, of another app or without a scope nothing is answered or told`() async throws {
        try await RunningAPI.with { api async throws in
            let id = try await Self.request(api, consents: false)
            let key = try await api.key(bundleIds: [SampleState.app])
            let path = "/v1/refund-requests/\(id)/answer"
            let noConsent = try await api.send("PUT", path, key: key, json: "{}")
            #expect(noConsent.problem == "conflict")
            #expect(noConsent.json?["detail"]?.string?.contains("has not consented") == true)
            let other = try await api.key(bundleIds: ["com.example.other"])
            #expect(try await api.send("PUT", path, key: other, json: "{}").problem == "not-found")
            #expect(try await api.get("/v1/refund-requests/\(id)", key: other).problem == "not-found")
            let list = try await api.get("/v1/refund-requests", key: other)
            #expect(list.json?["data"]?.elements.isEmpty == true)
            let usage = "/v1/transactions/\(id)/usage"
            let foreign = try await api.send("PUT", usage, key: other, json: #"{"consumptionPercentage": 5}"#)
            #expect(foreign.problem == "not-found")
            #expect(try await api.send("PUT", usage, key: key, json: "{}").problem == "invalid-request")
            let policy = try await api.get("/v1/refund-policies/\(SampleState.app)", key: other)
            #expect(policy.problem == "app-not-allowed")
            let reader = try await api.key(scopes: [.refundsRead], bundleIds: [SampleState.app])
            #expect(try await api.send("PUT", path, key: reader, json: "{}").problem == "missing-scope")
            #expect(try await api.get("/v1/refund-requests/\(id)", key: reader).status == 200)
        }
    }
}
