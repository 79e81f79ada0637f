import AppStore
import Contracts
import Foundation
import Kafka
import Postgres
import Signatures
import Storage
import Subscriptions
import TestSupport
import Testing

@testable import API
@testable import AppStoreSamples

@Suite struct UploadTests {
    static let account = UUID()

    @Test func `An upload gives access in its answer, and the ledger then gives the same`() async throws {
        try await UploadFixture.with { fixture in
            let signed = try fixture.transaction(of: Self.account)
            let answer = try await fixture.upload([signed, signed], of: Self.account)
            #expect(answer.status == 200)
            #expect(answer.json?["finish"]?.bool == true && answer.json?["recorded"]?.bool == true)
            #expect(answer.access.contains("com.example.reader.monthly"))
            let token = try #require(answer.headers["storekeeper-read-after"])
            #expect(try await fixture.entitlements(of: Self.account).access == "[]")
            let records = try await fixture.records(1)
            #expect(records.map(\.signedPayload) == [signed])
            #expect(records.map(\.source) == [.upload])
            try await fixture.apply(records)
            let later = try await fixture.entitlements(of: Self.account, after: token)
            #expect(later.headers["storekeeper-read-after"] == nil)
            #expect(later.access == answer.access)
            #expect(later.json?["version"]?.int64 == answer.json?["version"]?.int64)
            // The app finishes at its next start what the server has known for long, with the same answer.
            let again = try await fixture.upload([signed], of: Self.account)
            #expect(again.json?["finish"]?.bool == true && again.access == answer.access)
        }
    }

    @Test func `A read after an upload that is not stored says that it is behind`() async throws {
        try await UploadFixture.with { fixture in
            let answer = try await fixture.upload([fixture.transaction()], of: Self.account)
            let token = try #require(answer.json?["readAfter"]?.string)
            let read = try await fixture.entitlements(of: Self.account, after: token)
            #expect(read.status == 200 && read.headers["storekeeper-read-after"] == "behind")
            #expect(try await fixture.entitlements(of: Self.account, after: "x").problem == "malformed-request")
        }
    }

    @Test func `Of the forgeries none is accepted, and each part is rejected with a reason`() async throws {
        let corpus = try UploadFixture.corpus.get()
        try await UploadFixture.with { fixture in
            let verifier = try fixture.material.verifier()
            for (name, door) in [
                ("signedTransactions", Forgery.Door.transaction), ("signedRenewalInfos", .renewalInfo),
            ] {
                // Some are wrong as a notification only. A text that is not UTF-8 cannot stand in JSON.
                let texts = corpus.forgeries.map(\.jws).filter { jws in
                    jws.count < 1 << 20 && jws.count > 4 && String(validating: jws, as: UTF8.self) != nil
                        && !jws.contains(0)
                        && Forgery(name, nil, jws, door: door).rejection(by: verifier, now: UploadFixture.now) != nil
                }
                #expect(texts.count > corpus.forgeries.count * 3 / 4)
                for start in stride(from: 0, to: texts.count, by: 40) {
                    let chunk = Array(texts[start..<min(start + 40, texts.count)])
                    let answer = try await fixture.upload(chunk, of: Self.account, as: name)
                    #expect(answer.status == 422 && answer.problem == "nothing-verified")
                    #expect(answer.accepted == 0 && answer.rejected.count == chunk.count)
                    #expect(answer.json?["finish"]?.bool == false && answer.json?["recorded"]?.bool == false)
                    try Self.expectAsDescribed(answer, fixture.api)
                }
            }
            #expect(try await fixture.entitlements(of: Self.account).access == "[]")
        }
    }

    @Test func `A forged part beside a genuine one is rejected alone, and nothing may be finished`() async throws {
        try await UploadFixture.with { fixture in
            var forged = try fixture.transaction()
            forged[forged.count - 5] ^= 1
            let answer = try await fixture.upload([fixture.transaction(), forged], of: Self.account)
            #expect(answer.accepted == 1 && answer.rejected.count == 1)
            #expect(answer.json?["recorded"]?.bool == true && answer.json?["finish"]?.bool == false)
        }
    }

    @Test func `A part of another environment, app or kind than the request says is rejected`() async throws {
        try await UploadFixture.with { fixture in
            let sandbox = try fixture.transaction { $0.environment = .sandbox }
            let other = try fixture.transaction { $0.bundleId = ForgeryMaterial.productionOnly }
            let renewal = try fixture.material.signed(fixture.material.renewal())
            let answer = try await fixture.upload([sandbox, other, renewal], of: Self.account)
            #expect(answer.rejected == ["environment", "app-mismatch", "body"])
            let test = try await fixture.api.key(environment: .sandbox)
            let body =
                #"{"bundleId":"com.example.reader","signedTransactions":["\#(String(decoding: sandbox, as: UTF8.self))"]}"#
            let accepted = try await fixture.api.send("POST", "/v1/transactions", key: test, json: body)
            #expect(accepted.accepted == 1)
            let foreign = try await fixture.api.key(environment: .production, bundleIds: ["com.example.other"])
            #expect(try await fixture.api.send("POST", "/v1/transactions", key: foreign, json: body).status == 403)
        }
    }

    @Test func `Renewal information is accepted only with its transaction, or of a purchase that is stored`()
        async throws
    {
        try await UploadFixture.with { fixture in
            let renewal = try fixture.material.signed(fixture.material.renewal())
            let alone = try await fixture.upload([renewal], as: "signedRenewalInfos")
            #expect(alone.rejected == ["nested-mismatch"])
            let transaction = try fixture.material.signed(fixture.material.transaction())
            let both = try await fixture.post { json in
                json.strings("signedTransactions", of: [String(decoding: transaction, as: UTF8.self)])
                json.strings("signedRenewalInfos", of: [String(decoding: renewal, as: UTF8.self)])
            }
            #expect(both.accepted == 2)
            try await fixture.apply(fixture.records(2))
            #expect(try await fixture.upload([renewal], as: "signedRenewalInfos").accepted == 1)
        }
    }

    @Test func `An upload that Kafka does not take is answered 503 with what the account may use`() async throws {
        try await UploadFixture.with(isKafkaAway: true) { fixture in
            let answer = try await fixture.upload([fixture.transaction(of: Self.account)], of: Self.account)
            #expect(answer.status == 503 && answer.problem == "unavailable")
            #expect(answer.json?["verified"]?.bool == true)
            #expect(answer.json?["recorded"]?.bool == false && answer.json?["finish"]?.bool == false)
            let entitlements = answer.json?["answer"]?["entitlements"]?.elements ?? []
            #expect(entitlements.compactMap { $0["productId"]?.string } == ["com.example.reader.monthly"])
            try Self.expectAsDescribed(answer, fixture.api)
        }
    }

    /// Expects the answer that the document describes for an upload of transactions.
    private static func expectAsDescribed(_ answer: RunningAPI.Answer, _ api: RunningAPI) throws {
        let operation = try #require(api.document.operations.first { $0.id == "uploadTransactions" })
        DocumentTests.expect(answer, isAs: try #require(operation.answers[answer.status]), operation, api)
    }

    @Test func `A dry run answers and records nothing`() async throws {
        try await UploadFixture.with { fixture in
            let signed = String(decoding: try fixture.transaction(), as: UTF8.self)
            let answer = try await fixture.post("/v1/restores") { json in
                json.member("appAccountToken", Self.account.uuidString)
                json.member("dryRun", true)
                json.strings("signedTransactions", of: [signed])
            }
            #expect(answer.access.contains("monthly") && answer.json?["recorded"]?.bool == false)
            #expect(answer.json?["finish"]?.bool == false)
            #expect(try await fixture.entitlements(of: Self.account).json?["withheld"]?.elements.isEmpty == true)
        }
    }

    @Test func `An app transaction tells the version that the customer first got, and changes no purchase`()
        async throws
    {
        try await UploadFixture.with { fixture in
            var app = fixture.material.appTransaction()
            app.originalApplicationVersion = "7.2"
            app.receiptCreationDate = UploadFixture.now
            let signed = try fixture.material.signed(app)
            let answer = try await fixture.post { json in
                json.member("signedAppTransaction", String(decoding: signed, as: UTF8.self))
            }
            #expect(answer.accepted == 1)
            #expect(answer.json?["app"]?["originalApplicationVersion"]?.string == "7.2")
            #expect(answer.access == "[]")
            let records = try await fixture.records(1)
            try await fixture.apply(records)
            let read = try await fixture.entitlements(
                of: Self.account, after: #require(answer.json?["readAfter"]?.string))
            #expect(read.headers["storekeeper-read-after"] == nil)
        }
    }

    /// An app transaction as an old system signs it, without `appTransactionId`, and as a new one does.
    @Test func `An assigned app transaction is in the audit log once, however often it is sent`() async throws {
        try await UploadFixture.with { fixture in
            var app = fixture.material.appTransaction()
            app.appTransactionId = "700000000000000001"
            app.originalApplicationVersion = "7.2"
            app.receiptCreationDate = UploadFixture.now
            let text = String(decoding: try fixture.material.signed(app), as: UTF8.self)
            let account = UUID()
            for _ in 0..<2 {
                let answer = try await fixture.post { json in
                    json.member("appAccountToken", account.uuidString)
                    json.member("signedAppTransaction", text)
                    json.beginObject("assign")
                    json.member("reason", "migrated customer 4711")
                    json.endObject()
                }
                #expect(answer.accepted == 1)
            }
            let actions = try await fixture.actions()
            #expect(
                actions.map(\.subject) == [
                    "app transaction 700000000000000001 to \(account.uuidString.lowercased())"
                ])
            #expect(actions.allSatisfy { $0.operation == "assign" && $0.reason == "migrated customer 4711" })
        }
    }

    @Test(arguments: [nil, "700000000000000001"], SharingPolicy.allCases)
    func `The purchase of the app serves as many accounts as the policy says (O6)`(
        identity: String?, policy: SharingPolicy
    ) async throws {
        try await UploadFixture.with { fixture in
            let connection = TestDatabase.connection(fixture.api.database)
            try await fixture.setPolicy(policy, mostAccounts: 20)
            func app(signed date: Date) throws -> String {
                var app = fixture.material.appTransaction()
                app.appTransactionId = identity
                app.originalApplicationVersion = "7.2"
                app.originalPurchaseDate = UploadFixture.now.addingTimeInterval(-86_400 * 900)
                app.receiptCreationDate = date
                return String(decoding: try fixture.material.signed(app), as: UTF8.self)
            }
            func upload(_ text: String, of account: UUID, to path: String = "/v1/transactions") async throws {
                fixture.api.clock.advance(by: 0.001)
                let answer = try await fixture.post(path) { json in
                    json.member("appAccountToken", account.uuidString)
                    json.member("signedAppTransaction", text)
                }
                #expect(answer.accepted == 1)
            }
            func entitled(_ accounts: [UUID]) async throws -> [UUID] {
                let rows = try await connection.execute(
                    unsafeSQL: "select app_account_token from account_app where is_entitled")
                let found: [UUID] = try rows.map { try $0.value(at: 0) }
                return accounts.filter(found.contains)
            }
            let accounts = (0..<20).map { _ in UUID() }
            let old = try app(signed: UploadFixture.now.addingTimeInterval(-86_400 * 300))
            try await upload(old, of: accounts[0])
            #expect(try await entitled(accounts) == [accounts[0]])
            for account in accounts[1...] { try await upload(old, of: account, to: "/v1/restores") }
            #expect(try await entitled(accounts) == [accounts[0]], "an old copy serves no second account")
            for account in accounts[1...] { try await upload(app(signed: UploadFixture.now), of: account) }
            let expected: [UUID] =
                switch policy {
                case .allow: Array(accounts[1...])
                case .refuse: []
                default: [accounts[1]]
                }
            #expect(try await entitled(accounts) == expected, "a recent copy comes before an old one")
            for account in accounts[2...] {
                try await upload(app(signed: UploadFixture.now), of: account, to: "/v1/restores")
            }
            let moved = policy == .lastRestoreWins ? [accounts[1 + PurchaseMove.limit]] : expected
            #expect(try await entitled(accounts) == moved, "three moves in 30 days")
            await connection.close()
        }
    }

    @Test func `A part is rejected for a device that it was not made on`() async throws {
        try await UploadFixture.with { fixture in
            let signed = String(decoding: try fixture.transaction(), as: UTF8.self)
            let answer = try await fixture.post { json in
                json.member("deviceVerificationId", UUID().uuidString)
                json.strings("signedTransactions", of: [signed])
            }
            #expect(answer.rejected == ["device-mismatch"])
        }
    }

    @Test func `A key with too many rejected parts is throttled`() async throws {
        try await UploadFixture.with(rejections: 3) { fixture in
            let parts = Array(repeating: Array("a.b.c".utf8), count: 4)
            let answer = try await fixture.upload(parts)
            #expect(answer.status == 429 && answer.headers["retry-after"] != nil)
            // The next request is refused before anything is proven or asked.
            let next = try await fixture.upload([try fixture.transaction()])
            #expect(next.status == 429 && next.headers["retry-after"] != nil)
        }
    }

    @Test func `A bare transaction id without an API key is rejected with what to do`() async throws {
        try await UploadFixture.with { fixture in
            let answer = try await fixture.post { json in
                json.transaction("2000000000000001")
            }
            #expect(answer.rejected == ["no-api-key"])
            let other = try await fixture.api.send(
                "POST", "/v1/transactions", key: fixture.key,
                json:
                    #"{"bundleId":"com.example.reader","transactionIds":[{"transactionId":"1","environment":"Sandbox"}]}"#
            )
            #expect(other.problem == "wrong-environment")
        }
    }

    @Test(arguments: [
        (#""receipt":"AAAA""#, "malformed"), (#""receipt":"not base64""#, "malformed"),
        (#""verifyReceiptResponse":{"status":21002}"#, "body"),
        (
            #""verifyReceiptResponse":{"receipt":{"bundle_id":"com.example.other","in_app":[{"transaction_id":"1"}]}}"#,
            "app-mismatch"
        ),
        (
            #""verifyReceiptResponse":{"environment":"Sandbox","latest_receipt_info":[{"transaction_id":"1"}]}"#,
            "environment"
        ),
        (
            #""verifyReceiptResponse":{"environment":"Production","latest_receipt_info":[{"transaction_id":"1"}]}"#,
            "no-api-key"
        ),
    ])
    func `A receipt that is not proven, or that Apple cannot be asked about, is rejected`(
        member: String, reason: String
    ) async throws {
        try await UploadFixture.with { fixture in
            let answer = try await fixture.api.send(
                "POST", "/v1/receipts", key: fixture.key, json: "{\"bundleId\":\"com.example.reader\",\(member)}")
            #expect(answer.status == 422 && answer.rejected == [reason] && answer.accepted == 0)
        }
    }
}
