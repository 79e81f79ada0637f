import Contracts
import Foundation
import Operations
import Postgres
import StrictJSON
import TestSupport
import Testing
import WebhookDelivery

@testable import API
@testable import Storage

/// The endpoints of webhooks, as backends see them.
struct WebhookTests {
    static let audit = OperatorAction(
        actedAt: Date(), actor: "test", operation: "webhooks create", subject: "endpoint", reason: nil)

    private static func create(
        _ api: RunningAPI, _ state: SampleState, environment: StoreEnvironment = .sandbox, apps: [String] = []
    ) async throws -> WebhookEndpoint {
        let endpoint = WebhookEndpoint(
            id: UUID(), environment: environment, url: "https://example.com/hook",
            filter: WebhookFilter(bundleIds: apps), createdAt: Date(timeIntervalSince1970: 0))
        try await WebhookEndpointStore(state.connection).create(endpoint, audit: audit)
        return endpoint
    }

    @Test func `A key sees the endpoints of its environment and its apps, tests them and replays to them`() async throws
    {
        try await SampleState.with { api, state in
            let key = try await api.key()
            let narrow = try await api.key(bundleIds: ["com.example.app"])
            let endpoint = try await Self.create(api, state)
            let ofApp = try await Self.create(api, state, apps: ["com.example.app"])
            let other = try await Self.create(api, state, environment: .production)
            func ids(_ key: String) async throws -> Set<String> {
                Set(
                    (try await api.get("/v1/webhook-endpoints", key: key).json?["data"]?.elements ?? []).compactMap {
                        $0["endpointId"]?.string
                    })
            }
            func text(_ endpoint: WebhookEndpoint) -> String { endpoint.id.uuidString.lowercased() }
            #expect(try await ids(key) == [text(endpoint), text(ofApp)])
            #expect(try await ids(narrow) == [text(ofApp)])
            let path = "/v1/webhook-endpoints/\(text(endpoint))"
            for hidden in [text(other), UUID().uuidString.lowercased()] {
                let answer = try await api.get("/v1/webhook-endpoints/\(hidden)/deliveries", key: key)
                #expect(answer.status == 404)
            }
            #expect(try await api.get("\(path)/deliveries", key: narrow).status == 404)
            #expect(try await api.send("POST", "\(path)/test", key: key).status == 202)
            let tested = try await WebhookEndpointStore(state.connection).find(endpoint.id)
            #expect(tested?.health.testRequestedAt != endpoint.createdAt)

            try await state.subscribed()
            let replays = "\(path)/replays"
            let purchase = #"{"originalTransactionId": "\#(SampleState.purchase)"}"#
            let plan = try await api.send("POST", "\(replays)?dryRun=true", key: key, json: purchase)
            #expect(plan.status == 200 && plan.json?["isEffective"]?.bool == true)
            #expect(try await api.send("POST", replays, key: key, json: "{}").status == 400)
            for (event, admits) in [("SUBSCRIBED", true), ("REFUND", false)] {
                let time = #"{"from": 0, "to": 4102444800000, "events": ["\#(event)"]}"#
                let plan = try await api.send("POST", "\(replays)?dryRun=true", key: key, json: time)
                #expect(plan.status == 200 && plan.json?["isEffective"]?.bool == admits, "\(event)")
            }
            let mixed = #"{"sequence": 1, "events": ["REFUND"]}"#
            #expect(try await api.send("POST", replays, key: key, json: mixed).status == 400)
            let done = try await api.send("POST", replays, key: key, json: purchase)
            #expect(done.status == 202 && done.json?["enqueued"]?.int64 == 1)
            let second = try await api.send("POST", replays, key: key, json: purchase)
            #expect(second.problem == "conflict")
            #expect(second.json?["detail"]?.string?.contains("storekeeper webhooks replay") == true)
            // The command line has no limit.
            let unlimited = try await ReplayWebhooks(
                .purchase(SampleState.purchase), to: endpoint.id, on: state.connection)
            #expect(unlimited.count == 1)
            await #expect(throws: OperationError.self) {
                _ = try await ReplayWebhooks(
                    .purchase(SampleState.purchase), to: endpoint.id, most: 0, on: state.connection)
            }
            let deliveries = try await api.get("\(path)/deliveries?state=waiting", key: key).json
            #expect(deliveries?["data"]?.elements.first?["isReplay"]?.bool == true)
            #expect(deliveries?["hasMore"]?.bool == false)
        }
    }
}
