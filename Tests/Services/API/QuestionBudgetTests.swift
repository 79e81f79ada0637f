import AppStore
import Foundation
import Storage
import StrictJSON
import Subscriptions
import TestSupport
import Testing

@testable import API
@testable import AppStoreSamples

/// Requests that ask Apple take from one budget of their key, before they ask.
@Suite(.hangLimit) struct QuestionBudgetTests {
    @Test func `Parallel requests of a key ask Apple no more than one may`() async throws {
        try await Self.with(questions: 2) { fixture, _ in
            let answers = try await withThrowingTaskGroup(of: RunningAPI.Answer.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        try await fixture.api.send(
                            "POST", "/v1/transactions", key: fixture.key,
                            json: #"""
                                {"bundleId":"com.example.reader",
                                 "transactionIds":[{"transactionId":"404","environment":"Production"}]}
                                """#)
                    }
                }
                var answers: [RunningAPI.Answer] = []
                for try await answer in group { answers.append(answer) }
                return answers
            }
            #expect(answers.count { $0.rejected == ["unknown-transaction"] } == 2)
            #expect(answers.count { $0.problem == "too-many-requests" } == 18)
        }
    }

    @Test func `A search for an order number takes a question for each app`() async throws {
        try await Self.with(questions: 1) { fixture, _ in
            #expect(try await fixture.api.get("/v1/search?q=MZZZZZZZZZ", key: fixture.key).status == 200)
            let refused = try await fixture.api.get("/v1/search?q=MZZZZZZZZZ", key: fixture.key)
            #expect(refused.problem == "too-many-requests" && refused.headers["retry-after"] != nil)
            // Other ids are looked up in the database alone.
            #expect(try await fixture.api.get("/v1/search?q=2000000000000001", key: fixture.key).status == 200)
        }
    }

    @Test func `An app for which Apple does not answer hides no order of another app`() async throws {
        // Its name comes first.
        try await Self.with(strangers: ["com.example.another"]) { fixture, store in
            let bought = try store.subscribe()
            try await fixture.apply([AppleTests.webhook(bought.signed[0])])
            let found = try await fixture.api.get("/v1/search?q=\(bought.orderId)", key: fixture.key)
            let hits = try #require(found.json?["data"]?.elements)
            #expect(hits.map { $0["originalTransactionId"]?.string } == [bought.originalTransactionId])
            let unknown = try await fixture.api.get("/v1/search?q=MZZZZZZZZZ", key: fixture.key)
            #expect(unknown.status == 503 && unknown.problem == "unavailable")
        }
    }

    @Test func `Extensions and refreshes take from the budget, and ask nothing beyond it`() async throws {
        try await Self.with(questions: 1) { fixture, store in
            let bought = try store.subscribe()
            try await fixture.apply([AppleTests.webhook(bought.signed[0])])
            func post(_ name: String, _ body: String? = nil) async throws -> RunningAPI.Answer {
                try await fixture.api.send(
                    "POST", "/v1/subscriptions/\(bought.originalTransactionId)/\(name)", key: fixture.key,
                    body: body.map { Array($0.utf8) })
            }
            let days = #"{"days":3,"reason":"outage"}"#
            #expect(try await post("extension", days).status == 200)
            #expect(try await post("extension", days).problem == "too-many-requests")
            #expect(try await fixture.actions().map(\.outcome) == [.done, .requested])
            #expect(try await post("refresh").problem == "too-many-requests")
            try await fixture.api.pass(30)
            #expect(try await post("refresh?dryRun=true").status == 200)
            #expect(try await post("refresh").status == 202)
            #expect(try await post("refresh").problem == "too-many-requests")
        }
    }

    @Test func `A receipt is asked about as far as the budget goes, and refused where nothing is left`() async throws {
        try await Self.with(questions: 1) { fixture, store in
            let bought = [try store.subscribe(), try store.subscribe(seed: 8)]
            func upload() async throws -> RunningAPI.Answer {
                try await fixture.post("/v1/receipts") { json in
                    json.member("appAccountToken", UUID().uuidString)
                    json.beginObject("verifyReceiptResponse")
                    json.member("status", Int64(0))
                    json.member("environment", "Production")
                    json.beginObject("receipt")
                    json.member("bundle_id", ForgeryMaterial.bundleId)
                    json.objects("in_app", of: bought) { json, one in
                        json.member("transaction_id", one.transactionId)
                        json.member("original_transaction_id", one.originalTransactionId)
                    }
                    json.endObject()
                    json.endObject()
                }
            }
            let first = try await upload()
            // A transaction and a renewal info of one of them.
            #expect(first.accepted == 2 && first.rejected == ["apple-unavailable"])
            #expect(try await upload().problem == "too-many-requests")
        }
    }

    @Test func `Accounts of moved purchases are set at Apple as far as the budget goes`() async throws {
        try await AppleFixture.with { store, clients in
            let bought = [try store.subscribe(), try store.subscribe(seed: 8)]
            try await UploadFixture.with(apple: clients, setsAccountTokens: true, questions: 3) { fixture in
                try await fixture.setPolicy(.lastRestoreWins)
                let accounts = [UUID(), UUID()]
                for account in accounts {
                    try await fixture.api.pass(100)
                    let answer = try await fixture.post("/v1/restores") { json in
                        json.member("appAccountToken", account.uuidString)
                        json.beginObject("assign")
                        json.member("reason", "the customer's new account")
                        json.endObject()
                        json.objects("transactionIds", of: bought) { json, one in
                            json.member("transactionId", one.transactionId)
                            json.member("environment", "Production")
                        }
                    }
                    #expect(answer.status == 200 && answer.accepted == 2)
                }
                let client = try #require(clients[ForgeryMaterial.bundleId, .production])
                var named: [String?] = []
                for one in bought {
                    named.append(try await client.transactionInfo(one.transactionId).value?.appAccountToken)
                }
                #expect(named.count { $0 == accounts[1].uuidString.lowercased() } == 1)
            }
        }
    }

    private static func with(
        strangers: [String] = [], questions: Int = 100_000,
        _ body: @escaping @Sendable (UploadFixture, AppleFixture) async throws -> Void
    ) async throws {
        try await AppleFixture.with(strangers: strangers) { store, clients in
            try await UploadFixture.with(apple: clients, questions: questions) { fixture in
                try await body(fixture, store)
            }
        }
    }
}
