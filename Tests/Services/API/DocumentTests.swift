import Chassis
import Contracts
import Foundation
import Postgres
import StrictJSON
import Subscriptions
import TestSupport
import Testing
import WebhookDelivery

@testable import API
@testable import Storage

/// The document keeps its promises: each answer it describes can be had, looks as described, and nothing else is answered.
struct DocumentTests {
    @Test func `Document has a handler for each operation, and says so where one is missing`() throws {
        let document = try APIDocument.embedded()
        let none = #expect(throws: RouterFault.self) { try Router(document.operations, handlers: [:]) }
        #expect(none?.unhandled.count == document.operations.count)
        let handlers = Dictionary(
            uniqueKeysWithValues: document.operations.map { operation -> (String, Handler) in
                (operation.id, { _ in APIResponse.empty(204) })
            })
        #expect(throws: RouterFault.self) {
            try Router(document.operations, handlers: handlers.merging(["more": { _ in .empty(204) }]) { $1 })
        }
        #expect(throws: Never.self) { try Router(document.operations, handlers: handlers) }
    }

    @Test func `Document has the version of this build`() throws {
        let root = try JSONDocument(try APIDocument.embedded().bytes, limits: JSONLimits(depth: 40)).root
        #expect(root["info"]?["version"]?.string == BuildInformation.version)
    }

    @Test func `Every example is as its schema says`() throws {
        let document = try APIDocument.embedded()
        let root = try JSONDocument(document.bytes, limits: JSONLimits(depth: 40)).root
        var checked = 0
        func check(_ value: JSONValue, _ place: String) throws {
            if let example = value["example"], let schema = value["schema"] ?? (value["type"] == nil ? nil : value) {
                let faults = document.check.faults(of: example, by: try Schema(schema, at: place))
                #expect(faults.isEmpty, "\(place): \(faults)")
                checked += 1
            }
            for (name, member) in value.members where name != "example" { try check(member, "\(place)/\(name)") }
            for (index, element) in value.elements.enumerated() { try check(element, "\(place)/\(index)") }
        }
        try check(root, "")
        #expect(checked > 10)
    }

    @Test func `Every property is described, requests are closed and answers are open for additions`() throws {
        let root = try JSONDocument(try APIDocument.embedded().bytes, limits: JSONLimits(depth: 40)).root
        let schemas = root["components"]?["schemas"]
        var checked = 0
        func check(_ value: JSONValue, _ place: String, isRequest: Bool) {
            if let name = value["$ref"]?.string?.split(separator: "/").last, let named = schemas?[String(name)] {
                return check(named, String(name), isRequest: isRequest)
            }
            for (name, property) in value["properties"]?.members ?? [] {
                #expect(property["description"]?.string != nil || property["$ref"] != nil, "\(place).\(name)")
                check(property, "\(place).\(name)", isRequest: isRequest)
                checked += 1
            }
            if value["properties"] != nil {
                #expect(value["additionalProperties"]?.bool == (isRequest ? false : nil), "\(place)")
            }
            if let items = value["items"] { check(items, place + "[]", isRequest: isRequest) }
            for one in value["oneOf"]?.elements ?? [] { check(one, place, isRequest: isRequest) }
        }
        for (path, item) in root["paths"]?.members ?? [] {
            for (method, operation) in item.members {
                let place = "\(method) \(path)"
                for (_, media) in operation["requestBody"]?["content"]?.members ?? [] {
                    if let schema = media["schema"] { check(schema, place, isRequest: true) }
                }
                for (_, answer) in operation["responses"]?.members ?? [] {
                    for (_, media) in answer["content"]?.members ?? [] {
                        if let schema = media["schema"] { check(schema, place, isRequest: false) }
                    }
                }
            }
        }
        #expect(checked > 200)
    }

    @Test func `Reference page shows every operation, schema and problem, and requests nothing`() throws {
        let document = try APIDocument.embedded()
        let page = String(decoding: try ReferencePage(document.bytes).bytes, as: UTF8.self)
        for operation in document.operations {
            #expect(page.contains("id=\"\(operation.id)\""), "\(operation.id)")
            #expect(page.contains("<code>\(operation.path)</code>"), "\(operation.path)")
        }
        for name in document.check.schemas.keys { #expect(page.contains("id=\"schema-\(name)\""), "\(name)") }
        for kind in Problem.Kind.allCases { #expect(page.contains(kind.type) && !kind.advice.isEmpty, "\(kind)") }
        let foreign = page.matches(of: /(?:src|href)="([^"]*)"/).map { $0.output.1 }.filter {
            !$0.hasPrefix("#") && !$0.hasPrefix("/openapi")
        }
        #expect(foreign.isEmpty, "\(foreign)")
        #expect(!page.contains("<script") && !page.contains("@import") && !page.contains("url("))
    }

    @Test func `Change has one form for each fact, and another for facts that are added`() throws {
        let check = try APIDocument.embedded().check
        let change = try #require(check.schemas["Change"])
        let forms = change.oneOf.compactMap { $0.reference }.compactMap { check.schemas[$0] }
        let facts =
            Fact.allCases.map(\.rawValue) + EarlierTransaction.Fact.allCases.map(\.rawValue)
            + [FactChange.accessUntil, FactChange.refundRequest, FactChange.account, FactChange.sharedAccount]
        #expect(forms.count == 8)
        #expect(forms.flatMap { $0.properties["fact"]?.choices ?? [] }.sorted() == facts.sorted())
        #expect(forms.last?.properties["fact"]?.exclusions.sorted() == facts.sorted())
        let refund = check.schemas["RefundChange"]?.properties["to"]?.choices
        #expect(refund == RefundRequest.Status.allCases.map(\.rawValue))

        func faults(_ changes: FactChange...) throws -> [Int] {
            try JSONDocument(FactChange.json(changes)).root.elements.map { check.faults(of: $0, by: change).count }
        }
        let time = Date(timeIntervalSince1970: 1_767_225_600).iso8601
        let known = try faults(
            FactChange(fact: "expiresDate", from: nil, to: time),
            FactChange(fact: "earlierRevocationDate", from: nil, to: time, transactionId: "4"),
            FactChange(fact: "autoRenewStatus", from: "true", to: "false"),
            FactChange(fact: "status", from: "1", to: nil), FactChange(fact: "productId", from: nil, to: "pro"),
            FactChange(fact: FactChange.accessUntil, from: time, to: "none", transactionId: "4"),
            FactChange(fact: FactChange.refundRequest, from: nil, to: "requested", transactionId: "4"),
            FactChange(fact: FactChange.account, from: SampleState.account, to: SampleState.account),
            FactChange(fact: "later", from: nil, to: "x"))
        #expect(known == Array(repeating: 0, count: 9))
        let wrong = try faults(
            FactChange(fact: "expiresDate", from: nil, to: "2026-01-01"),
            FactChange(fact: "autoRenewStatus", from: nil, to: "on"),
            FactChange(fact: FactChange.refundRequest, from: nil, to: "requested"),
            FactChange(fact: FactChange.account, from: "user-1", to: nil))
        #expect(wrong == Array(repeating: 1, count: 4))
    }

    @Test func `Document refuses a keyword that the service would not check`() {
        for schema in [
            #"{"type":"string","pattern":"a+"}"#, #"{"type":"text"}"#, #"{"format":"email"}"#,
            #"{"additionalProperties":{}}"#, #"{"$ref":"other.json"}"#, #"{"maxLength":"9"}"#, "3",
            #"{"not":{"type":"string"}}"#, #"{"not":{"enum":["a"],"type":"string"}}"#,
        ] {
            #expect(throws: DocumentFault.self, "\(schema)") {
                _ = try Schema(try JSONDocument(Array(schema.utf8)).root, at: "")
            }
        }
    }

    @Test func `Each documented answer of each operation can be had and is as described`() async throws {
        try await AppleFixture.with(SampleState.app) { store, clients in
            var uploads = UploadServices.unavailable
            uploads.apple = clients
            try await Self.checkAnswers(uploads, store)
        }
    }

    /// `MigrationFromReceiptsTests` has the answer to a receipt of which something was verified.
    private static func checkAnswers(_ uploads: UploadServices, _ store: AppleFixture) async throws {
        try await RunningAPI.with(uploads: uploads) { api in
            try await SampleState.use(api) { state in
                let cases = DocumentedAnswers(api: api, state: state, store: store)
                for operation in api.document.operations {
                    for (status, described) in operation.answers.sorted(by: { $0.key < $1.key })
                    where ![429, 408].contains(status) && (operation.id, status) != ("uploadReceipt", 200) {
                        let answer = try await cases.answer(of: operation, status: status)
                        #expect(answer.status == status, "\(operation.id) \(status): \(answer.problem ?? "")")
                        Self.expect(answer, isAs: described, operation, api)
                    }
                }
            }
        }
    }

    @Test func `Each operation with a key is rejected 429 beyond its rate`() async throws {
        for operation in try APIDocument.embedded().operations where operation.scope != nil {
            #expect(operation.answers[429] != nil, "\(operation.id)")
        }
        try await RunningAPI.with(quota: 1) { api in
            let key = try await api.key()
            _ = try await api.get("/v1/search?q=1", key: key)
            for operation in api.document.operations where operation.scope != nil {
                let answer = try await api.send(
                    operation.method, DocumentedAnswers.path(operation), key: key, json: "{}")
                #expect(answer.status == 429 && answer.problem == "too-many-requests", "\(operation.id)")
            }
        }
    }

    /// `BudgetTests` gets one.
    @Test func `Each operation with a body is rejected 408 where the body does not arrive`() throws {
        for operation in try APIDocument.embedded().operations {
            #expect((operation.answers[408] != nil) == (operation.body != nil), "\(operation.id)")
        }
    }

    static func expect(
        _ answer: RunningAPI.Answer, isAs described: APIOperation.Answer, _ operation: APIOperation, _ api: RunningAPI
    ) {
        let place = "\(operation.id) \(answer.status)"
        guard !described.content.isEmpty else {
            #expect(answer.body.isEmpty, "\(place)")
            return
        }
        let type = answer.headers["content-type"] ?? "none"
        guard let schema = described.content[type] else {
            Issue.record("\(place) is answered as \(type)")
            return
        }
        guard let schema, let json = answer.json else { return }
        var check = api.document.check
        check.refusesUndescribed = true
        let faults = check.faults(of: json, by: schema)
        #expect(faults.isEmpty, "\(place): \(faults)")
    }
}

/// How to get each documented answer.
struct DocumentedAnswers {
    let api: RunningAPI
    let state: SampleState
    let store: AppleFixture

    static let customer = "user-1"
    private static let endpoint = "1f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0"
    private static let offerRules =
        #"{"rules":[{"productId":"pro","offerIdentifier":"spring","who":["neverPaid","active","lapsed"],"atMost":{"count":1,"days":1}}]}"#
    private static let grant = #"{"productId":"pro","reason":"r","confirmUnknown":true}"#

    /// Emptied before each answer, without triggers, as a truncation would: one makes a hundred files each time, and every
    /// statement has to be planned again.
    private static let cleared = [
        "api_key", "api_key_use", "customer", "manual_grant", "api_idempotency", "notification", "subscription",
        "transaction", "access_period", "account_claim", "purchase_account", "timeline", "notification_payload",
        "recovery_request", "entitlement_definition", "account_app", "customer_consent", "erased_account",
        "webhook_endpoint", "webhook_health", "webhook_queue", "webhook_delivery", "refund_request", "refund_answer",
        "refund_policy", "usage_report", "erased_purchase", "credit", "offer_rule", "offer_signature",
    ]

    /// With parameters that exist, or can.
    static func path(_ operation: APIOperation) -> String {
        let values = [
            "appAccountToken": SampleState.account, "customerId": customer,
            "originalTransactionId": SampleState.purchase,
            "transactionId": SampleState.purchase, "orderId": "M1", "name": "pro", "kind": "consumption",
            "bundleId": SampleState.app, "grantId": "0f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0", "endpointId": endpoint,
            "report": "mrr",
        ]
        let path = values.reduce(operation.path) { $0.replacing("{\($1.key)}", with: $1.value) }
        return switch operation.id {
        case "search": path + "?q=1"
        case "getAccountOffers": path + "?bundleId=\(SampleState.app)"
        default: path
        }
    }

    /// A body that is as the document says.
    static func body(_ operation: APIOperation) -> String {
        switch operation.id {
        case "queryEntitlements": #"{"appAccountTokens":["\#(SampleState.account)"]}"#
        case "createGrant": grant
        case "replayWebhooks": #"{"originalTransactionId":"\#(SampleState.purchase)"}"#
        case "eraseCustomer": #"{"extent":"erase"}"#
        case "uploadTransactions": #"{"bundleId":"\#(SampleState.app)"}"#
        case "restorePurchases": #"{"bundleId":"\#(SampleState.app)","appAccountToken":"\#(SampleState.account)"}"#
        case "uploadReceipt":
            #"{"bundleId":"\#(SampleState.app)","verifyReceiptResponse":{"environment":"Sandbox","latest_receipt_info":[]}}"#
        case "putEntitlementDefinition": #"{"productIds":["pro.monthly"]}"#
        case "sendConsumption": #"{"deliveryStatus":"DELIVERED","sampleContentProvided":false}"#
        case "extendSubscription": #"{"days":3,"reason":"other"}"#
        case "signPromotionalOffer":
            #"{"bundleId":"\#(SampleState.app)","productId":"pro","offerIdentifier":"spring","appAccountToken":"\#(SampleState.account)"}"#
        case "getIntroductoryOfferEligibility":
            #"{"bundleId":"\#(SampleState.app)","subscriptionGroupIdentifier":"1","appAccountToken":"\#(SampleState.account)"}"#
        case "putRefundPolicy": #"{"rules":[{"name":"else","then":{"answer":false}}]}"#
        case "reportUsage": #"{"consumptionPercentage":0}"#
        default: "{}"
        }
    }

    func answer(of operation: APIOperation, status: Int) async throws -> RunningAPI.Answer {
        try await state.connection.run(
            unsafeScript: "set local session_replication_role = replica; "
                + Self.cleared.map { "delete from \($0);" }.joined(separator: " "))
        let key = try await api.key(bundleIds: [SampleState.app])
        let path = Self.path(operation)
        let body = operation.body == nil ? nil : Array(Self.body(operation).utf8)
        switch status {
        case 400:
            return try await send(operation, path + (path.contains("?") ? "&" : "?") + "unknown=1", key, body: body)
        case 401: return try await send(operation, path, nil, body: body)
        case 403: return try await send(operation, path, try await api.key(scopes: []), body: body)
        case 404: return try await send(operation, path, key, body: body)
        case 413:
            return try await send(operation, path, key, body: Array(repeating: 0x20, count: operation.bodyLimit + 1))
        case 415: return try await send(operation, path, key, ["Content-Type": "text/plain"], body: body)
        case 503:
            let stale = KeyTable.limit / .seconds(1) + 1
            api.clock.advance(by: stale)
            defer { api.clock.advance(by: -stale) }
            return try await send(operation, path, key, body: body)
        default: break
        }
        try await state.subscribed()
        try await api.eventsAreDecided()
        if operation.id != "putCustomer" || status != 201 {
            _ = try await api.send("PUT", "/v1/customers/\(Self.customer)", key: key, json: "{}")
        }
        if operation.path.hasPrefix("/v1/webhook-endpoints") {
            let endpoint = WebhookEndpoint(
                id: UUID(uuidString: Self.endpoint) ?? UUID(), environment: .sandbox, url: "https://example.com/hook",
                filter: WebhookFilter(bundleIds: [SampleState.app]),
                kind: (operation.id, status) == ("testWebhookEndpoint", 409) ? .apple : .changes,
                createdAt: Date(timeIntervalSince1970: 0))
            try await WebhookEndpointStore(state.connection).create(endpoint, audit: WebhookTests.audit)
            let sequences = try await TimelineStore(state.connection).newest(9).map(\.id)
            _ = try await WebhookQueueStore(state.connection).enqueue(sequences, moving: [], at: api.clock.now)
        }
        if operation.path.contains("refund") || operation.id == "sendConsumption" {
            try await state.requestRefund(at: api.clock.now)
        }
        if operation.id == "creditTransaction", status != 409 {
            try await state.connection.run(unsafeScript: "update transaction set product_type = 'Consumable'")
        }
        return try await special(operation, status, path, key, body)
    }

    private func special(
        _ operation: APIOperation, _ status: Int, _ path: String, _ key: String, _ body: [UInt8]?
    ) async throws -> RunningAPI.Answer {
        let idempotent = ["Idempotency-Key": "a"]
        switch (operation.id, status) {
        case (_, 304):
            let tag = try #require(try await send(operation, path, key).headers["etag"])
            return try await send(operation, path, key, ["If-None-Match": tag])
        case ("putCustomer", 409):
            return try await send(
                operation, path, key, body: Array(#"{"appAccountToken":"\#(SampleState.account)"}"#.utf8))
        case ("revokeGrant", _):
            let made = try await api.send(
                "POST", "/v1/customers/\(Self.customer)/grants", key: key,
                json: Self.grant)
            let id = try #require(made.json?["grantId"]?.string)
            return try await send(
                operation, "/v1/customers/\(Self.customer)/grants/\(id)\(status == 200 ? "?dryRun=true" : "")", key)
        case ("createGrant", 200), ("refreshSubscription", 200), ("replayWebhooks", 200), ("answerRefundRequest", 200):
            return try await send(operation, path + "?dryRun=true", key, body: body)
        case ("getOrder", 200), ("extendSubscription", 200):
            return try await askingApple(operation, body)
        case ("getEntitlementDefinition", 200):
            _ = try await api.send("PUT", path, key: key, json: #"{"productIds":["pro.monthly"]}"#)
            return try await send(operation, path, key)
        case ("putEntitlementDefinition", 409):
            try await state.connection.run(
                unsafeScript: """
                    insert into entitlement_definition
                        (version, created_at, created_by, environment, bundle_id, name, product_ids)
                    select 1, '2020-01-01', gen_random_uuid(), 'Sandbox', '\(SampleState.app)', 'other' || number, '{}'
                    from generate_series(1, 1000) as number
                    """)
            return try await send(operation, path, key, body: Array(#"{"productIds":["other"]}"#.utf8))
        case ("creditTransaction", 200):
            _ = try await send(operation, path, key, body: body)
            return try await send(operation, path, key, body: body)
        case ("creditTransaction", 409): return try await send(operation, path, key, body: body)
        case ("reportUsage", 409):
            try await state.connection.run(
                unsafeScript: """
                    insert into erased_purchase select environment, original_transaction_id from transaction;
                    delete from purchase_account
                    """)
            return try await send(operation, path, key, body: body)
        case ("testWebhookEndpoint", 409): return try await send(operation, path, key)
        case ("answerRefundRequest", 409):
            _ = try await send(operation, path, key, body: body)
            return try await send(operation, path, key, body: body)
        case ("getRefundPolicy", 200):
            _ = try await api.send(
                "PUT", path, key: key, json: #"{"rules":[{"name":"else","then":{"answer":false}}]}"#)
            return try await send(operation, path, key)
        case ("signPromotionalOffer", 200), ("getAccountOffers", 200):
            try await state.connection.run(
                unsafeScript: """
                    insert into offer_rule (created_at, version, environment, bundle_id, document, created_by)
                    values ('2020-01-01', 1, 'Sandbox', '\(SampleState.app)', '\(Self.offerRules)', 'ann')
                    """)
            let answer = try await send(operation, path, key, body: body)
            #expect(answer.json?["allowed"]?.bool ?? answer.json?["data"]?.elements.first?["allowed"]?.bool == true)
            return answer
        case ("getOrder", 409):
            return try await send(operation, path, try await api.key(environment: .production, bundleIds: ["other"]))
        case ("refreshSubscription", 422):
            _ = try await send(operation, path, key, idempotent)
            return try await send(operation, "/v1/subscriptions/other/refresh", key, idempotent)
        case (_, 422):
            _ = try await send(operation, path, key, idempotent, body: body)
            guard operation.queryParameters.contains(where: { $0.name == "bundleId" }) else {
                return try await send(operation, path, key, idempotent, body: (body ?? []) + [0x20])
            }
            return try await send(operation, path + "?bundleId=\(SampleState.app)", key, idempotent, body: body)
        case (_, 409):
            _ = try await send(operation, path, key, idempotent, body: body)
            try await state.connection.run(unsafeScript: "update api_idempotency set status = null")
            return try await send(operation, path, key, idempotent, body: body)
        case ("streamEvents", _):
            await api.looks.before {
                try await state.connection.run(unsafeScript: "truncate api_key cascade")
                try await api.keys.turn()
            }
            return try await send(operation, path, key)
        default: return try await send(operation, path, key, body: body)
        }
    }

    /// Of a subscription in Production that Apple knows too.
    private func askingApple(_ operation: APIOperation, _ body: [UInt8]?) async throws -> RunningAPI.Answer {
        let bought = try store.subscribe()
        try await state.subscribed(purchase: bought.originalTransactionId, environment: .production)
        let key = try await api.key(environment: .production, bundleIds: [SampleState.app])
        let path = operation.path.replacing("{orderId}", with: bought.orderId)
            .replacing("{originalTransactionId}", with: bought.originalTransactionId)
            .replacing("{transactionId}", with: bought.transactionId)
        _ = try await api.send(
            "PUT", "/v1/customers/\(Self.customer)", key: key,
            json: #"{"appAccountToken":"\#(SampleState.account)"}"#)
        _ = try await api.send("PUT", "/v1/customers/\(Self.customer)/consents/consumption", key: key, json: "{}")
        return try await send(operation, path, key, body: body)
    }

    private func send(
        _ operation: APIOperation, _ path: String, _ key: String?, _ headers: [String: String] = [:],
        body: [UInt8]? = nil
    ) async throws -> RunningAPI.Answer {
        try await api.send(
            operation.method, path, key: operation.scope == nil ? nil : key, headers: headers, body: body)
    }
}

extension SampleState {
    /// Apple asks about the refund of the transaction, and its account consented to an answer.
    func requestRefund(at now: Date) async throws {
        try await connection.askAboutRefund(of: Self.purchase, Self.app, in: .sandbox, at: now)
        let account = try #require(UUID(uuidString: Self.account))
        try await connection.storeConsent(of: account, Self.app, in: .sandbox)
    }
}
