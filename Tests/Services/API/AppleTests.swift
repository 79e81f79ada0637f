import AppStore
import Contracts
import Foundation
import Signatures
import Storage
import StrictJSON
import Subscriptions
import TestSupport
import Testing

@testable import API
@testable import AppStoreSamples

/// What is asked of Apple, against the simulator's App Store Server API.
@Suite(.hangLimit) struct AppleTests {
    static let account = UUID()

    static func with(
        claimAge: Double = 72 * 3600, _ body: @escaping @Sendable (UploadFixture, AppleFixture) async throws -> Void
    ) async throws {
        try await AppleFixture.with { store, clients in
            try await UploadFixture.with(apple: clients, claimAge: claimAge) { fixture in try await body(fixture, store)
            }
        }
    }

    // MARK: Orders

    @Test func `Order leads to its transactions and to the timeline of their purchase`() async throws {
        try await Self.with { fixture, store in
            let bought = try store.subscribe()
            let path = "/v1/orders/\(bought.orderId)?bundleId=\(ForgeryMaterial.bundleId)"
            let before = try await fixture.api.get(path, key: fixture.key)
            #expect(before.status == 200)
            let purchase = try #require(before.json?["purchases"]?.elements.first)
            #expect(purchase["originalTransactionId"]?.string == bought.originalTransactionId)
            #expect(purchase["isStored"]?.bool == false && purchase["timeline"]?.elements.isEmpty == true)
            #expect(purchase["transactions"]?.elements.first?["transactionId"]?.string == bought.transactionId)

            _ = try await fixture.apply([Self.webhook(bought.signed[0])])
            let after = try await fixture.api.get(path, key: fixture.key)
            let stored = try #require(after.json?["purchases"]?.elements.first)
            #expect(stored["isStored"]?.bool == true)
            #expect(stored["timeline"]?.elements.first?["data"]?["event"]?.string == "SUBSCRIBED/INITIAL_BUY")
        }
    }

    @Test func `Order shows nothing of a purchase that is stored for another app`() async throws {
        try await Self.with { fixture, store in
            let bought = try store.subscribe()
            try await SampleState.use(fixture.api) { state in
                _ = try await state.subscribed(
                    purchase: bought.originalTransactionId, environment: .production, bundleId: "com.example.other")
            }
            let order = try await fixture.api.get(
                "/v1/orders/\(bought.orderId)?bundleId=\(ForgeryMaterial.bundleId)", key: fixture.key)
            let purchase = try #require(order.json?["purchases"]?.elements.first)
            #expect(purchase["isStored"]?.bool == false && purchase["timeline"]?.elements.isEmpty == true)
        }
    }

    @Test func `Search finds the purchases of an order number, once they are stored`() async throws {
        try await Self.with { fixture, store in
            let bought = try store.subscribe()
            let path = "/v1/search?q=\(bought.orderId)"
            #expect(try await fixture.api.get(path, key: fixture.key).json?["data"]?.elements.isEmpty == true)
            _ = try await fixture.apply([Self.webhook(bought.signed[0])])
            let hits = try #require(try await fixture.api.get(path, key: fixture.key).json?["data"]?.elements)
            #expect(hits.map { $0["kind"]?.string } == ["orderId"])
            #expect(hits.map { $0["originalTransactionId"]?.string } == [bought.originalTransactionId])
            // The transaction's own signed text, out of the notification that held it.
            let transaction = "/v1/transactions/\(bought.transactionId)?include="
            let own = try await fixture.api.get("\(transaction)signedTransactionInfo", key: fixture.key)
            let signed = try #require(own.json?["signedTransactionInfo"]?.string)
            let payload = CompactJWS(Array(signed.utf8)[...]).flatMap { Base64.decode($0.payload, .url) }
            let facts = try JSONDocument(try #require(payload)).root
            #expect(facts["transactionId"]?.string == bought.transactionId)
            #expect(own.json?["signedPayload"] == nil)
            let held = try await fixture.api.get("\(transaction)signedPayload", key: fixture.key)
            #expect(held.json?["signedPayloadKind"]?.string == "notification")
        }
    }

    @Test func `Order that Apple does not know, or of the sandbox, is not found`() async throws {
        try await Self.with { fixture, store in
            let bought = try store.subscribe()
            let query = "?bundleId=\(ForgeryMaterial.bundleId)"
            for order in ["NONE", "..", "M%2F1", "a b"] {
                let path = "/v1/orders/\(order.replacing(" ", with: "%20"))\(query)"
                let answer = try await fixture.api.get(path, key: fixture.key)
                #expect(answer.problem == "not-found", "\(order)")
            }
            let test = try await fixture.api.key(environment: .sandbox)
            let sandbox = try await fixture.api.get("/v1/orders/\(bought.orderId)\(query)", key: test)
            #expect(sandbox.problem == "not-found")
            #expect(sandbox.json?["detail"]?.string?.contains("Production") == true)
        }
    }

    @Test func `Order of an app without an API key is rejected with what to do`() async throws {
        try await UploadFixture.with { fixture in
            let answer = try await fixture.api.get(
                "/v1/orders/M1?bundleId=\(ForgeryMaterial.bundleId)", key: fixture.key)
            #expect(answer.problem == "conflict")
            #expect(answer.json?["detail"]?.string?.contains("STOREKEEPER_APP_STORE_API_KEYS_FILE") == true)
        }
    }

    @Test func `Each assignment is in the audit log, also to an account that claimed the purchase before`() async throws
    {
        try await Self.with { fixture, store in
            let bought = try store.subscribe(isOwned: false)
            try await fixture.setPolicy(.lastRestoreWins)
            let (first, second) = (UUID(), UUID())
            for account in [first, second, first] {
                try await fixture.api.pass()
                let answer = try await fixture.api.send(
                    "POST", "/v1/restores", key: fixture.key,
                    json: """
                        {"bundleId":"com.example.reader","appAccountToken":"\(account.uuidString)",
                         "assign":{"reason":"the customer's account"},
                         "transactionIds":[{"transactionId":"\(bought.transactionId)","environment":"Production"}]}
                        """)
                #expect(answer.status == 200 && answer.access.contains(bought.productId))
            }
            let subjects = try await fixture.actions().filter { $0.operation == "assign" }.map(\.subject)
            #expect(
                subjects
                    == [first, second, first].map { account in
                        "purchase \(bought.originalTransactionId) to \(account.uuidString.lowercased())"
                    })
        }
    }

    // MARK: Budget

    @Test func `A key that has asked Apple as much as one may is refused until it may again; other keys are not`()
        async throws
    {
        try await AppleFixture.with { _, clients in
            try await UploadFixture.with(apple: clients, questions: 2) { fixture in
                @Sendable func ask(_ key: String) async throws -> RunningAPI.Answer {
                    try await fixture.api.send(
                        "POST", "/v1/transactions", key: key,
                        json: #"""
                            {"bundleId":"com.example.reader","transactionIds":[
                             {"transactionId":"404","environment":"Production"},
                             {"transactionId":"405","environment":"Production"}]}
                            """#)
                }
                #expect(try await ask(fixture.key).rejected == ["unknown-transaction", "unknown-transaction"])
                let refused = try await ask(fixture.key)
                #expect(refused.problem == "too-many-requests" && refused.headers["retry-after"] != nil)
                // What is signed needs no question.
                #expect(try await fixture.upload([try fixture.transaction()]).accepted == 1)
                let other = try await fixture.api.key(environment: .production)
                #expect(try await ask(other).rejected == ["unknown-transaction", "unknown-transaction"])
                fixture.api.clock.advance(by: 10)
                #expect(try await ask(fixture.key).rejected == ["unknown-transaction", "unknown-transaction"])
            }
        }
    }

    // MARK: Extensions

    @Test func `Extension is Apple's, and the audit log says which key asked for it`() async throws {
        try await Self.with { fixture, store in
            let bought = try store.subscribe()
            _ = try await fixture.apply([Self.webhook(bought.signed[0])])
            let path = "/v1/subscriptions/\(bought.originalTransactionId)/extension"
            let answer = try await fixture.api.send(
                "POST", path, key: fixture.key, json: #"{"days":3,"reason":"outage","note":"sorry"}"#)
            #expect(answer.status == 200)
            let end = try #require(bought.expiresDate).addingTimeInterval(3 * 86_400)
            #expect(answer.json?["effectiveDate"]?.int64 == end.milliseconds)
            let actions = try await fixture.actions()
            #expect(actions.map(\.operation) == ["extend", "extend"])
            #expect(actions.map(\.outcome) == [.done, .requested])
            #expect(actions.allSatisfy { $0.actor == "API key test" && $0.apiKey != nil && $0.reason == "sorry" })
            #expect(actions.allSatisfy { $0.about == OperatorAction.About(.production, ForgeryMaterial.bundleId) })
            #expect(actions.allSatisfy { $0.subject.contains("\(bought.originalTransactionId) by 3 days") })
        }
    }

    @Test func `Extension that Apple refuses is answered with Apple's reason, and was written down`() async throws {
        try await Self.with { fixture, store in
            let bought = try store.subscribe()
            _ = try await fixture.apply([Self.webhook(bought.signed[0])])
            let path = "/v1/subscriptions/\(bought.originalTransactionId)/extension"
            let body = #"{"days":3,"reason":"other"}"#
            for _ in 0..<2 { _ = try await fixture.api.send("POST", path, key: fixture.key, json: body) }
            let third = try await fixture.api.send("POST", path, key: fixture.key, json: body)
            #expect(third.problem == "conflict" && third.json?["appleErrorCode"]?.int64 == 4_030_005)
            #expect(try await fixture.actions().map(\.outcome).prefix(2) == [.failed, .requested])
            let unknown = try await fixture.api.send(
                "POST", "/v1/subscriptions/404/extension", key: fixture.key, json: body)
            #expect(unknown.problem == "not-found")
        }
    }

    // MARK: Claims

    /// A purchase that Apple knows and whose payload names no account, or one of another customer.
    @Test(
        arguments: [
            ("/v1/transactions", true), ("/v1/transactions", false), ("/v1/restores", true), ("/v1/restores", false),
        ],
        SharingPolicy.allCases)
    func `A transaction id claims nothing, whether the purchase has an account or not, under every policy (O1)`(
        request: (path: String, isOwned: Bool), policy: SharingPolicy
    ) async throws {
        try await Self.with { fixture, store in
            let bought = try store.subscribe(isOwned: request.isOwned)
            let thief = UUID()
            try await fixture.setPolicy(policy)
            let answer = try await fixture.post(request.path) { json in
                json.member("appAccountToken", thief.uuidString)
                json.transaction(bought.transactionId)
            }
            #expect(answer.accepted == 1 && answer.claims == ["none"])
            #expect(answer.access == "[]", "the answer gives it away")
            let withheld = try #require(answer.json?["withheld"]?.elements.first)
            #expect(withheld["reason"]?.string == (request.isOwned ? "otherAccount" : "notClaimed"))
            #expect(withheld["nextStep"]?.string?.isEmpty == false)
            try await fixture.apply(fixture.records(1))
            #expect(try await fixture.entitlements(of: thief).access == "[]", "the state gives it away")
        }
    }

    @Test func `A stored answer of verifyReceipt claims nothing (O1)`() async throws {
        try await Self.with { fixture, store in
            let bought = try store.subscribe(isOwned: false)
            let thief = UUID()
            let answer = try await fixture.api.send(
                "POST", "/v1/receipts", key: fixture.key,
                json: """
                    {"bundleId":"com.example.reader","appAccountToken":"\(thief.uuidString)",
                     "verifyReceiptResponse":{"status":0,"environment":"Production",
                       "receipt":{"bundle_id":"com.example.reader",
                         "in_app":[{"transaction_id":"\(bought.transactionId)"}]}}}
                    """)
            #expect(answer.accepted > 0 && answer.access == "[]" && Set(answer.claims) == ["none"])
            try await fixture.apply(fixture.records(answer.accepted))
            #expect(try await fixture.entitlements(of: thief).access == "[]")
        }
    }

    /// The receipt of the test is 47 minutes old.
    @Test(arguments: [(3600.0, "signed"), (1800.0, "old")])
    func `The age of a receipt is its creation date (O2)`(claimAge: Double, claim: String) async throws {
        try await Self.with(claimAge: claimAge) { fixture, store in
            let bought = try store.subscribe(isOwned: false)
            let payload = SampleReceipt.payload(
                purchases: [
                    [(1702, bought.productId), (1703, bought.transactionId), (1705, bought.originalTransactionId)]
                ],
                environment: "Production", bundleId: ForgeryMaterial.bundleId, createdAt: "2025-12-06T05:00:00Z")
            let receipt = try SampleReceipt.signedByOpenSSL(payload, fixture.material.authority)
            func upload(of account: UUID) async throws -> RunningAPI.Answer {
                try await fixture.post("/v1/receipts") { json in
                    json.member("appAccountToken", account.uuidString)
                    json.member("receipt", String(decoding: Base64.encode(receipt, .standard), as: UTF8.self))
                }
            }
            let first = try await upload(of: Self.account)
            #expect(first.claims == [claim] && first.access.contains(bought.productId))
            try await fixture.apply(fixture.records(first.accepted))
            try await fixture.api.pass()
            let second = try await upload(of: UUID())
            #expect(second.claims == [claim] && second.access == "[]")
            let reason = second.json?["withheld"]?.elements.first?["reason"]?.string
            #expect(reason == (claim == "old" ? "oldCopy" : "otherAccount"))
        }
    }

    @Test func `A key with the scope purchases:assign assigns a purchase by its id, and the audit log says why (O1)`()
        async throws
    {
        try await Self.with { fixture, store in
            let bought = try store.subscribe(isOwned: false)
            let body = """
                {"bundleId":"com.example.reader","appAccountToken":"\(Self.account.uuidString)",
                 "assign":{"reason":"migrated customer 4711"},
                 "transactionIds":[{"transactionId":"\(bought.transactionId)","environment":"Production"}]}
                """
            let unscoped = try await fixture.api.key(environment: .production, scopes: [.purchasesWrite])
            let refused = try await fixture.api.send("POST", "/v1/transactions", key: unscoped, json: body)
            #expect(refused.status == 403 && refused.problem == "missing-scope")
            let key = try await fixture.api.key(environment: .production, scopes: [.purchasesAssign, .purchasesWrite])
            let answer = try await fixture.api.send("POST", "/v1/transactions", key: key, json: body)
            #expect(answer.claims == ["operator"] && answer.access.contains(bought.productId))
            let action = try #require(try await fixture.actions().first)
            #expect(action.operation == "assign" && action.reason == "migrated customer 4711")
            #expect(action.subject.contains(bought.originalTransactionId))
            #expect(action.subject.contains(Self.account.uuidString.lowercased()))
        }
    }

    // MARK: Receipts and transaction ids

    @Test func `Bare transaction id gives access in the answer, and Apple's transaction goes to the pipeline`()
        async throws
    {
        try await Self.with { fixture, store in
            let bought = try store.subscribe()
            let answer = try await fixture.post { json in
                json.member("appAccountToken", Self.account.uuidString)
                json.transaction(bought.transactionId)
            }
            #expect(answer.accepted == 1 && answer.rejected.isEmpty)
            #expect(answer.json?["finish"]?.bool == true)
            let record = try #require(try await fixture.records(1).first)
            #expect(record.source == .upload)
            try await fixture.apply([record])
            let stored = try await fixture.api.get(
                "/v1/transactions/\(bought.transactionId)", key: fixture.key)
            #expect(stored.json?["productId"]?.string == bought.productId)
        }
    }

    @Test func `Transaction id that Apple does not know is rejected and nothing is recorded`() async throws {
        try await Self.with { fixture, _ in
            let answer = try await fixture.api.send(
                "POST", "/v1/transactions", key: fixture.key,
                json:
                    #"{"bundleId":"com.example.reader","transactionIds":[{"transactionId":"404","environment":"Production"}]}"#
            )
            #expect(answer.rejected == ["unknown-transaction"] && answer.json?["recorded"]?.bool == false)
        }
    }

    @Test func `Stored answer of verifyReceipt brings every purchase that it names, with its renewals`()
        async throws
    {
        try await Self.with { fixture, store in
            let first = try store.subscribe(turningRenewalOff: true)
            let second = try store.subscribe(seed: 8)
            let answer = try await fixture.api.send(
                "POST", "/v1/receipts", key: fixture.key,
                json: """
                    {"bundleId":"com.example.reader","appAccountToken":"\(Self.account.uuidString)",
                     "verifyReceiptResponse":{"status":0,"environment":"Production",
                       "receipt":{"bundle_id":"com.example.reader",
                         "in_app":[{"transaction_id":"\(first.transactionId)",
                                    "original_transaction_id":"\(first.originalTransactionId)"}]},
                       "latest_receipt_info":[],
                       "pending_renewal_info":[{"original_transaction_id":"\(second.originalTransactionId)"}]}}
                    """)
            #expect(answer.status == 200 && answer.rejected.isEmpty, "\(answer.rejected)")
            let accepted = Set(
                (answer.json?["accepted"]?.elements ?? []).compactMap { $0["originalTransactionId"]?.string })
            #expect(accepted == [first.originalTransactionId, second.originalTransactionId])
            // A transaction and a renewal info of each.
            #expect(answer.accepted == 4)
        }
    }

    @Test func `Receipt of StoreKit 1 brings every purchase in it, with its renewals`() async throws {
        try await Self.with { fixture, store in
            let bought = [try store.subscribe(), try store.subscribe(seed: 8)]
            let payload = SampleReceipt.payload(
                purchases: bought.map {
                    [(1702, $0.productId), (1703, $0.transactionId), (1705, $0.originalTransactionId)]
                },
                environment: "Production", bundleId: ForgeryMaterial.bundleId, createdAt: "2025-12-06T05:00:00Z")
            let receipt = try SampleReceipt.signedByOpenSSL(payload, fixture.material.authority)
            let answer = try await fixture.post("/v1/receipts") { json in
                json.member("appAccountToken", Self.account.uuidString)
                json.member("receipt", String(decoding: Base64.encode(receipt, .standard), as: UTF8.self))
            }
            #expect(answer.status == 200 && answer.rejected.isEmpty, "\(answer.rejected)")
            let accepted = (answer.json?["accepted"]?.elements ?? []).compactMap { $0["originalTransactionId"]?.string }
            #expect(Set(accepted) == Set(bought.map(\.originalTransactionId)))
            #expect(answer.accepted == 4 && answer.json?["finish"]?.bool == true)
            try await fixture.apply(fixture.records(4))
            for one in bought {
                let path = "/v1/subscriptions/\(one.originalTransactionId)"
                #expect(try await fixture.api.get(path, key: fixture.key).status == 200)
            }
        }
    }

    // MARK: -

    static func webhook(_ signed: [UInt8]) -> ReceivedNotification {
        ReceivedNotification(
            signedPayload: signed, source: .webhook, receivedAt: UploadFixture.now,
            bundleId: ForgeryMaterial.bundleId)
    }
}

extension UploadFixture {
    /// The audit log, the newest first.
    func actions() async throws -> [OperatorAction] {
        let connection = TestDatabase.connection(api.database)
        let actions = try await OperatorActionStore(connection).newest(100)
        await connection.close()
        return actions
    }
}
