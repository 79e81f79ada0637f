import Foundation
import StrictJSON
import Testing

@testable import AppStore
@testable import ServerAPI

@Suite struct EndpointTests {
    /// One endpoint: what is called, what has to arrive, and what is answered.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let line: String
        let body: String?
        let contentType: String
        let answer: String
        let call: @Sendable (AppStoreServerAPI) async throws -> Void

        init(
            _ name: String, _ line: String, body: String? = nil, contentType: String = "application/json",
            answer: String = "", _ call: @escaping @Sendable (AppStoreServerAPI) async throws -> Void
        ) {
            self.name = name
            self.line = line
            self.body = body
            self.contentType = contentType
            self.answer = answer
            self.call = call
        }

        var testDescription: String { name }
    }

    static let signed = "a.b.c"
    static let id = UUID(uuidString: "7e3fb20b-4cdb-47cc-936d-99d65f608138") ?? UUID()
    static let date = Date(timeIntervalSince1970: 1_780_000_000.5)
    static let cases: [Case] = [
        Case(
            "transaction info", "GET /inApps/v1/transactions/1", answer: #"{"signedTransactionInfo":"a.b.c"}"#
        ) {
            let item = try await $0.transactionInfo("1")
            #expect(item.jws == Array(signed.utf8))
        },
        Case(
            "transaction history",
            "GET /inApps/v2/history/1?revision=r%201&startDate=1780000000500&endDate=1780000000500&productId=p&productId=q"
                + "&productType=CONSUMABLE&sort=ASCENDING&subscriptionGroupIdentifier=g&inAppOwnershipType=PURCHASED"
                + "&revoked=false",
            answer: #"{"revision":"r2","hasMore":false,"signedTransactions":["a.b.c"]}"#
        ) {
            var query = TransactionHistoryQuery()
            query.startDate = date
            query.endDate = date
            query.productIds = ["p", "q"]
            query.productTypes = [.consumable]
            query.sort = .ascending
            query.subscriptionGroupIdentifiers = ["g"]
            query.inAppOwnershipType = .purchased
            query.revoked = false
            for try await page in $0.transactionHistory(of: "1", query, from: "r 1") {
                #expect(page.position == "r2" && page.transactions.map(\.jws) == [Array(signed.utf8)])
            }
        },
        Case(
            "transaction history, version 1", "GET /inApps/v1/history/1", answer: #"{"revision":"r","hasMore":false}"#
        ) { for try await page in $0.transactionHistory(of: "1", version: .v1) { #expect(page.transactions.isEmpty) } },
        Case(
            "refund history", "GET /inApps/v2/refund/lookup/1?revision=r",
            answer: #"{"revision":"r2","hasMore":false,"signedTransactions":["a.b.c"]}"#
        ) {
            for try await page in $0.refundHistory(of: "1", from: "r") {
                #expect(page.position == "r2" && page.transactions.count == 1)
            }
        },
        Case(
            "subscription statuses", "GET /inApps/v1/subscriptions/1?status=1&status=4",
            answer: #"{"data":[{"subscriptionGroupIdentifier":"g","lastTransactions":[{"status":9}]}]}"#
        ) {
            let statuses = try await $0.subscriptionStatuses(of: "1", statuses: [.active, .billingGracePeriod])
            #expect(statuses.groups.first?.subscriptionGroupIdentifier == "g")
            #expect(statuses.groups.first?.items.first?.status == SubscriptionStatus(rawValue: 9))
        },
        Case(
            "app transaction", "GET /inApps/v1/transactions/appTransactions/1",
            answer: #"{"signedAppTransactionInfo":"a.b.c"}"#
        ) {
            let item = try await $0.appTransactionInfo("1")
            #expect(item.jws == Array(signed.utf8))
        },
        Case("order", "GET /inApps/v1/lookup/M%2F1", answer: #"{"status":1}"#) {
            let order = try await $0.lookUpOrder("M/1")
            #expect(order.status == .invalid && order.transactions.isEmpty)
        },
        Case(
            "extension", "PUT /inApps/v1/subscriptions/extend/1",
            body: #"{"extendByDays":3,"extendReasonCode":1,"requestIdentifier":"i"}"#,
            answer:
                #"{"originalTransactionId":"1","webOrderLineItemId":"2","success":true,"effectiveDate":1780000000500}"#
        ) {
            let response = try await $0.extendRenewalDate(
                of: "1",
                ExtendRenewalDateRequest(
                    extendByDays: 3, extendReasonCode: .customerSatisfaction, requestIdentifier: "i"))
            #expect(response.success == true && response.effectiveDate == date)
        },
        Case(
            "mass extension", "POST /inApps/v1/subscriptions/extend/mass",
            body: #"{"extendByDays":3,"extendReasonCode":3,"requestIdentifier":"i","storefrontCountryCodes":["USA"],"#
                + #""productId":"p"}"#,
            answer: #"{"requestIdentifier":"i"}"#
        ) {
            let response = try await $0.extendRenewalDates(
                MassExtendRenewalDateRequest(
                    extendByDays: 3, extendReasonCode: .serviceIssueOrOutage, requestIdentifier: "i",
                    storefrontCountryCodes: ["USA"], productId: "p"))
            #expect(response.requestIdentifier == "i")
        },
        Case(
            "status of a mass extension", "GET /inApps/v1/subscriptions/extend/mass/p/i",
            answer: #"{"requestIdentifier":"i","complete":true,"completeDate":1780000000500,"succeededCount":7,"#
                + #""failedCount":1}"#
        ) {
            let status = try await $0.massExtensionStatus(productId: "p", requestIdentifier: "i")
            #expect(status.complete == true && status.succeededCount == 7 && status.failedCount == 1)
        },
        Case(
            "test notification", "POST /inApps/v1/notifications/test", answer: #"{"testNotificationToken":"t"}"#
        ) {
            let token = try await $0.requestTestNotification()
            #expect(token == "t")
        },
        Case(
            "status of a test notification", "GET /inApps/v1/notifications/test/t",
            answer: #"{"signedPayload":"a.b.c","firstSendAttemptResult":"SUCCESS","sendAttempts":"#
                + #"[{"attemptDate":1780000000500,"sendAttemptResult":"BORED"}]}"#
        ) {
            let item = try await $0.testNotificationStatus("t")
            #expect(item.signedPayload == Array(signed.utf8) && item.sendAttempts.first?.attemptDate == date)
            #expect(item.sendAttempts.first?.sendAttemptResult == SendAttemptResult(rawValue: "BORED"))
        },
        Case(
            "notification history", "POST /inApps/v1/notifications/history?paginationToken=t%3D",
            body: #"{"startDate":1780000000500,"endDate":1780000000500,"notificationType":"DID_RENEW","#
                + #""notificationSubtype":"BILLING_RECOVERY","onlyFailures":true}"#,
            answer: #"{"hasMore":false,"notificationHistory":[{"signedPayload":"a.b.c","sendAttempts":[]}],"news":1}"#
        ) {
            let request = NotificationHistoryRequest(
                startDate: date, endDate: date, notificationType: .didRenew, notificationSubtype: .billingRecovery,
                onlyFailures: true)
            for try await page in $0.notificationHistory(request, from: "t=") {
                #expect(page.items.map(\.signedPayload) == [Array(signed.utf8)] && page.position == nil)
            }
        },
        Case(
            "consumption", "PUT /inApps/v2/transactions/consumption/1",
            body: #"{"customerConsented":true,"sampleContentProvided":false,"deliveryStatus":"DELIVERED","#
                + #""consumptionPercentage":50000,"refundPreference":"GRANT_PRORATED"}"#
        ) {
            try await $0.sendConsumptionInformation(
                "1",
                ConsumptionRequest(
                    customerConsented: true, sampleContentProvided: false, deliveryStatus: .delivered,
                    consumptionPercentage: 50_000, refundPreference: .grantProrated))
        },
        Case(
            "account token", "PUT /inApps/v1/transactions/1/appAccountToken",
            body: #"{"appAccountToken":"7e3fb20b-4cdb-47cc-936d-99d65f608138"}"#
        ) {
            try await $0.setAppAccountToken(of: "1", #require(UUID(uuidString: "7E3FB20B-4CDB-47CC-936D-99D65F608138")))
        },
        Case(
            "report of an external purchase", "PUT /externalPurchase/v1/reports",
            body: #"{"requestIdentifier":"r","externalPurchaseId":"e","status":"NO_LINE_ITEM"}"#,
            answer: #"{"requestIdentifier":"r"}"#
        ) {
            let report = ExternalPurchaseReport(
                requestIdentifier: "r", externalPurchaseId: "e", status: .noLineItem)
            let response = try await $0.sendExternalPurchaseReport(report)
            #expect(response.requestIdentifier == "r")
        },
        Case(
            "sent report", "GET /externalPurchase/v1/reports/r",
            answer: #"{"requestIdentifier":"r","externalPurchaseId":"e","status":"LINE_ITEM","lineItems":[{"a":1}]}"#
        ) {
            let report = try await $0.externalPurchaseReport("r")
            #expect(report.status == .lineItem && report.lineItems?.text == #"[{"a":1}]"#)
        },
        Case(
            "image list", "GET /inApps/v1/messaging/image/list",
            answer: #"{"imageIdentifiers":[{"imageIdentifier":"i","imageState":"PENDING","imageSize":"FULL_SIZE"}]}"#
        ) {
            let images = try await $0.retentionImages()
            #expect(images.map(\.imageState) == ["PENDING"])
        },
        Case(
            "image", "PUT /inApps/v1/messaging/image/7e3fb20b-4cdb-47cc-936d-99d65f608138?imageSize=FULL_SIZE",
            body: "png", contentType: "image/png"
        ) {
            try await $0.uploadRetentionImage(id, png: Array("png".utf8), size: "FULL_SIZE")
        },
        Case("image deletion", "DELETE /inApps/v1/messaging/image/7e3fb20b-4cdb-47cc-936d-99d65f608138") {
            try await $0.deleteRetentionImage(id)
        },
        Case(
            "message", "PUT /inApps/v1/messaging/message/7e3fb20b-4cdb-47cc-936d-99d65f608138",
            body: #"{"header":"h","body":"b"}"#
        ) {
            try await $0.uploadRetentionMessage(id, json: Array(#"{"header":"h","body":"b"}"#.utf8))
        },
        Case("message deletion", "DELETE /inApps/v1/messaging/message/7e3fb20b-4cdb-47cc-936d-99d65f608138") {
            try await $0.deleteRetentionMessage(id)
        },
        Case(
            "message list", "GET /inApps/v1/messaging/message/list",
            answer: #"{"messageIdentifiers":[{"messageIdentifier":"i","messageState":"APPROVED"}]}"#
        ) {
            let messages = try await $0.retentionMessages()
            #expect(messages.map(\.messageState) == ["APPROVED"])
        },
        Case(
            "default message", "PUT /inApps/v1/messaging/default/p/en-US",
            body: #"{"messageIdentifier":"7e3fb20b-4cdb-47cc-936d-99d65f608138"}"#
        ) {
            try await $0.setDefaultRetentionMessage(id, productId: "p", locale: "en-US")
        },
        Case("default message's deletion", "DELETE /inApps/v1/messaging/default/p/en-US") {
            try await $0.deleteDefaultRetentionMessage(productId: "p", locale: "en-US")
        },
        Case("default message's id", "GET /inApps/v1/messaging/default/p/en-US", answer: #"{"messageIdentifier":"i"}"#)
        {
            let message = try await $0.defaultRetentionMessage(productId: "p", locale: "en-US")
            #expect(message == "i")
        },
        Case("realtime URL", "PUT /inApps/v1/messaging/realtime/url", body: #"{"realtimeURL":"https://a.example"}"#) {
            try await $0.setRealtimeURL("https://a.example")
        },
        Case("realtime URL's deletion", "DELETE /inApps/v1/messaging/realtime/url") {
            try await $0.deleteRealtimeURL()
        },
        Case("realtime URL that is set", "GET /inApps/v1/messaging/realtime/url", answer: #"{"realtimeURL":"u"}"#) {
            let url = try await $0.realtimeURL()
            #expect(url == "u")
        },
        Case(
            "performance test", "POST /inApps/v1/messaging/performanceTest", body: #"{"originalTransactionId":"1"}"#,
            answer: #"{"config":{"totalRequests":1},"requestId":"r"}"#
        ) {
            let test = try await $0.startPerformanceTest(of: "1")
            #expect(test.requestId == "r" && test.config?.text == #"{"totalRequests":1}"#)
        },
        Case(
            "performance test's result", "GET /inApps/v1/messaging/performanceTest/result/r",
            answer: #"{"target":"u","result":"FAIL","successRate":90,"numPending":1,"failures":{"TIMED_OUT":1}}"#
        ) {
            let test = try await $0.performanceTest("r")
            #expect(test.result == "FAIL" && test.successRate == 90 && test.failures?.text == #"{"TIMED_OUT":1}"#)
        },
        commerce(.cancel, "subscription/cancel"), commerce(.revoke, "subscription/revoke"),
        commerce(.changePrice, "subscription/changePrice"), commerce(.changeMetadata, "subscription/changeMetadata"),
        commerce(.migrate, "subscription/migrate"), commerce(.requestRefund, "transaction/requestRefund"),
        Case("finishing", "POST /inApps/v1/transactions/1/finish") { try await $0.finishTransaction("1") },
    ]

    private static func commerce(_ operation: AppStoreServerAPI.AdvancedCommerceOperation, _ path: String) -> Case {
        Case(
            "Advanced Commerce, \(operation.rawValue)", "POST /advancedCommerce/v1/\(path)/1", body: #"{"a":1}"#,
            answer: #"{"signedTransactionInfo":"a.b.c"}"#
        ) {
            let outcome = try await $0.advancedCommerce(operation, "1", json: Array(#"{"a":1}"#.utf8))
            #expect(outcome.transaction?.jws == Array(signed.utf8) && outcome.renewalInfo == nil)
        }
    }

    @Test(arguments: cases)
    func `Call is put on the wire as Apple documents it, and its answer is read`(example: Case) async throws {
        let answer = ScriptedStore.Reply.answer(example.answer.isEmpty ? 202 : 200, Array(example.answer.utf8))
        try await APIFixture.scene { _, _ in
            answer
        } _: { fixture, store in
            try await example.call(fixture.client(store.url))
            let request = try #require(store.requests.first)
            #expect(store.requests.count == 1)
            #expect("\(request.method) \(request.target)" == example.line)
            #expect(String(decoding: request.body, as: UTF8.self) == example.body ?? "")
            #expect(request.headers["content-type"] == (example.body == nil ? nil : example.contentType))
            #expect(request.headers["accept"] == "application/json")
            #expect(request.headers["user-agent"] == "Storekeeper")
            #expect(try fixture.signer(of: request) == 0)
            #expect(fixture.attempts.map(\.result) == ["success"])
        }
    }

    @Test func `Every kind of call is tried`() {
        #expect(Self.cases.count == APIEndpoint.allCases.count + 1, "the history has two versions")
    }

    @Test(arguments: ["", ".", "..", String(repeating: "1", count: 513)])
    func `Text that cannot be an id is not sent`(id: String) async throws {
        try await APIFixture.scene { _, _ in
            .json("{}")
        } _: { fixture, store in
            let error = try await APIFixture.error { _ = try await fixture.client(store.url).transactionInfo(id) }
            guard case .invalidRequest = error else {
                Issue.record("\(error)")
                return
            }
            #expect(store.requests.isEmpty)
        }
    }

    @Test func `Id cannot lead to another endpoint`() async throws {
        try await APIFixture.scene { _, _ in
            .json(#"{"signedTransactionInfo":"a.b.c"}"#)
        } _: { fixture, store in
            _ = try await fixture.client(store.url).transactionInfo("../1?a=b#ü")
            #expect(store.requests.first?.target == "/inApps/v1/transactions/..%2F1%3Fa%3Db%23%C3%BC")
        }
    }

    @Test func `Addresses are Apple's, and Xcode has none`() async throws {
        #expect(AppStoreServerAPI.address(of: .production) == "https://api.storekit.apple.com")
        #expect(AppStoreServerAPI.address(of: .sandbox) == "https://api.storekit-sandbox.apple.com")
        try await APIFixture.scene { fixture in
            let client = AppStoreServerAPI(
                app: APIFixture.app, environment: .xcode, credentials: fixture.credentials, verifier: fixture.verifier,
                transport: fixture.transport, clock: fixture.clock())
            let error = try await APIFixture.error { _ = try await client.transactionInfo("1") }
            #expect(error.description.contains("Xcode"))
        }
    }
}
