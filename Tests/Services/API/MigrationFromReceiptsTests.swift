import AppStore
import Contracts
import Foundation
import Signatures
import Storage
import StrictJSON
import Testing

@testable import API

/// What apps that come from StoreKit 1 and receipts rely on.
@Suite(.hangLimit) struct MigrationFromReceiptsTests {
    private static let account = UUID()

    @Test func `A consumable is told as bought once and as taken back once, however often Apple tells it (N3)`()
        async throws
    {
        try await UploadFixture.with { fixture in
            func coins(signed seconds: Double, refunded: Bool = false) throws -> [UInt8] {
                try fixture.transaction("2000000000000042", of: Self.account) {
                    $0.type = .consumable
                    $0.productId = "com.example.reader.coins"
                    $0.subscriptionGroupIdentifier = nil
                    $0.expiresDate = nil
                    $0.quantity = 3
                    $0.signedDate = UploadFixture.now.addingTimeInterval(seconds)
                    if refunded { $0.revocationDate = UploadFixture.now.addingTimeInterval(-2) }
                }
            }
            let bought = [try coins(signed: -50), try coins(signed: -40)]
            let refunded = [try coins(signed: -1, refunded: true)]
            // From the app twice, from its restore button, again signed by Apple, and out of order.
            for signed in bought + bought + refunded + [bought[0]] + refunded {
                let answer = try await fixture.upload([signed], of: Self.account)
                #expect(answer.accepted == 1 && answer.access == "[]", "a consumable is no entitlement")
                try await fixture.apply([fixture.received(signed)])
            }
            try await fixture.api.eventsAreDecided()
            let page = try await fixture.api.get("/v1/events?limit=100", key: fixture.key)
            let changes = (page.json?["data"]?.elements ?? []).flatMap { $0["data"]?["changes"]?.elements ?? [] }
            func count(_ fact: String) -> Int { changes.filter { $0["fact"]?.string == fact }.count }
            #expect(count("transactionId") == 1 && count("revocationDate") == 1)
            let transaction = try await fixture.api.get("/v1/transactions/2000000000000042", key: fixture.key)
            #expect(transaction.json?["quantity"]?.int64 == 3 && transaction.json?["revocationDate"]?.int64 != nil)
        }
    }

    @Test func `A stored receipt tells that its purchase was renewed since (H8)`() async throws {
        try await AppleTests.with { fixture, store in
            let bought = try store.subscribe()
            // The receipt that the app has kept is of an earlier period.
            let stored = "1999999999999999"
            let answer = try await fixture.api.send(
                "POST", "/v1/receipts", key: fixture.key,
                json: """
                    {"bundleId":"com.example.reader","appAccountToken":"\(Self.account.uuidString)",
                     "verifyReceiptResponse":{"status":0,"environment":"Production",
                       "receipt":{"bundle_id":"com.example.reader",
                         "in_app":[{"transaction_id":"\(stored)",
                                    "original_transaction_id":"\(bought.originalTransactionId)"}]}}}
                    """)
            #expect(answer.status == 200 && answer.rejected.isEmpty, "\(answer.rejected)")
            let operation = try #require(fixture.api.document.operations.first { $0.id == "uploadReceipt" })
            DocumentTests.expect(answer, isAs: try #require(operation.answers[200]), operation, fixture.api)
            let newest = (answer.json?["accepted"]?.elements ?? []).compactMap { $0["transactionId"]?.string }
            #expect(newest.contains(bought.transactionId) && !newest.contains(stored))
            try await fixture.apply(fixture.records(2))
            let purchase = try await fixture.api.get(
                "/v1/subscriptions/\(bought.originalTransactionId)", key: fixture.key)
            #expect(purchase.json?["transaction"]?["transactionId"]?.string == bought.transactionId)
            #expect(purchase.json?["transaction"]?["expiresDate"]?.int64 == bought.expiresDate?.milliseconds)
        }
    }

    @Test func `A stored receipt with thousands of ids costs Apple few questions, and says what was not asked`()
        async throws
    {
        try await AppleTests.with { fixture, store in
            let bought = try store.subscribe()
            let ids = [bought.originalTransactionId] + (0..<3000).map { "19999999\(100_000 + $0)" }
            let items = ids.map { #"{"transaction_id":"\#($0)","original_transaction_id":"\#($0)"}"# }
            let answer = try await fixture.api.send(
                "POST", "/v1/receipts", key: fixture.key,
                json: """
                    {"bundleId":"com.example.reader","appAccountToken":"\(Self.account.uuidString)",
                     "verifyReceiptResponse":{"status":0,"environment":"Production",
                       "receipt":{"bundle_id":"com.example.reader","in_app":[\(items.joined(separator: ","))]}}}
                    """)
            #expect(answer.status == 200, "\(answer.problem ?? "")")
            let rejected = answer.json?["rejected"]?.elements ?? []
            #expect(rejected.count <= ReceiptHandlers.mostQuestions + 1)
            #expect(rejected.last?["reason"]?.string == "too-many-purchases")
        }
    }

    @Test func `An applicationUsername that is a UUID is the account, in any spelling (E2)`() async throws {
        try await UploadFixture.with { fixture in
            let signed = try fixture.transaction {
                $0.appAccountToken = Self.account.uuidString.uppercased()
            }
            #expect(try await fixture.upload([signed]).accepted == 1)
            try await fixture.apply(fixture.records(1))
            #expect(try await fixture.entitlements(of: Self.account).access.contains("monthly"))
        }
    }

    @Test func `An applicationUsername that is no UUID is lost, and the upload names the account instead (E2)`()
        async throws
    {
        try await UploadFixture.with { fixture in
            let signed = try fixture.transaction { $0.appAccountToken = "user-4711" }
            let answer = try await fixture.upload([signed], of: Self.account)
            #expect(answer.accepted == 1 && answer.access.contains("monthly"))
            try await fixture.apply(fixture.records(1))
            #expect(try await fixture.entitlements(of: Self.account).access == answer.access)
            let purchase = try await fixture.api.get("/v1/subscriptions/2000000000000001", key: fixture.key)
            #expect(purchase.json?["anomalies"]?.elements.isEmpty == false)
        }
    }

    @Test func `A purchase has Apple's status and all that a receipt said about its renewal (H4, H7)`() async throws {
        try await UploadFixture.with { fixture in
            let id = "2000000123456789"
            let transaction = try fixture.transaction(id, of: Self.account) {
                $0.expiresDate = UploadFixture.now.addingTimeInterval(-600)
            }
            let renewal = try fixture.material.signed(
                fixture.material.renewal {
                    $0.autoRenewStatus = .on
                    $0.isInBillingRetryPeriod = true
                    $0.gracePeriodExpiresDate = UploadFixture.now.addingTimeInterval(600)
                    $0.priceIncreaseStatus = PriceIncreaseStatus(rawValue: 0)
                    $0.expirationIntent = ExpirationIntent(rawValue: 2)
                    $0.renewalDate = UploadFixture.now.addingTimeInterval(-600)
                })
            let answer = try await fixture.post { json in
                json.member("appAccountToken", Self.account.uuidString)
                json.strings("signedTransactions", of: [String(decoding: transaction, as: UTF8.self)])
                json.strings("signedRenewalInfos", of: [String(decoding: renewal, as: UTF8.self)])
            }
            #expect(answer.accepted == 2 && answer.access.contains("gracePeriod"))
            try await fixture.apply(fixture.records(2))
            let purchase = try await fixture.api.get("/v1/subscriptions/\(id)", key: fixture.key)
            #expect(purchase.json?["state"]?.string == "gracePeriod" && purchase.json?["givesAccess"]?.bool == true)
            let info = try #require(purchase.json?["renewalInfo"])
            #expect(info["autoRenewStatus"]?.int64 == 1 && info["isInBillingRetryPeriod"]?.bool == true)
            #expect(info["priceIncreaseStatus"]?.int64 == 0 && info["expirationIntent"]?.int64 == 2)
            #expect(info["gracePeriodExpiresDate"]?.int64 == UploadFixture.now.addingTimeInterval(600).milliseconds)
        }
    }

    @Test func `A purchase that is uploaded by StoreKit 2 and stands in a receipt is one (H10, N14)`() async throws {
        try await AppleTests.with { fixture, store in
            let bought = try store.subscribe()
            let id = bought.originalTransactionId
            // The app's check at every start, and its old receipt.
            let byId = "{\"transactionId\":\"\(bought.transactionId)\",\"environment\":\"Production\"}"
            func upload(_ path: String, _ member: String) async throws -> RunningAPI.Answer {
                try await fixture.api.send(
                    "POST", path, key: fixture.key,
                    json: """
                        {"bundleId":"com.example.reader","appAccountToken":"\(Self.account.uuidString)",\(member)}
                        """)
            }
            let receipt = """
                "verifyReceiptResponse":{"status":0,"environment":"Production","receipt":{"bundle_id":"com.example.reader",
                "in_app":[{"transaction_id":"\(bought.transactionId)","original_transaction_id":"\(id)"}]}}
                """
            let first = try await upload("/v1/transactions", "\"transactionIds\":[\(byId)]")
            try await fixture.apply(fixture.records(1))
            let second = try await upload("/v1/receipts", receipt)
            let third = try await upload("/v1/transactions", "\"transactionIds\":[\(byId)]")
            #expect(first.status == 200 && second.status == 200 && third.status == 200)
            try await fixture.apply(fixture.records(4))
            let timeline = try await fixture.api.get("/v1/subscriptions/\(id)/timeline", key: fixture.key)
            let changes = (timeline.json?["data"]?.elements ?? []).flatMap { $0["data"]?["changes"]?.elements ?? [] }
            #expect(changes.filter { $0["fact"]?.string == "transactionId" }.count == 1)
            let found = try await fixture.api.get("/v1/search?q=\(bought.transactionId)", key: fixture.key)
            let hits = found.json?["data"]?.elements ?? []
            #expect(!hits.isEmpty && hits.allSatisfy { $0["originalTransactionId"]?.string == id })
        }
    }
}
