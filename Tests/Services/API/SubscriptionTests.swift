import Contracts
import Foundation
import Storage
import StrictJSON
import Subscriptions
import Testing

@testable import API

/// One purchase over HTTP, what happened to it, and the search for it.
struct SubscriptionTests {
    private let path = "/v1/subscriptions/\(SampleState.purchase)"

    @Test func `Subscription shows its state, its access and Apple's facts by Apple's names`() async throws {
        try await SampleState.with { api, state in
            try await state.subscribed()
            let json = try #require(try await api.get(path, key: try await api.key()).json)
            #expect(json["state"]?.string == "active" && json["givesAccess"]?.bool == true)
            #expect(json["access"]?.elements.count == 1)
            #expect(json["transaction"]?["productId"]?.string == "pro.monthly")
            #expect(json["transaction"]?["appAccountToken"]?.string == SampleState.account)
            #expect(json["renewalInfo"]?["autoRenewStatus"]?.int64 == 1)
        }
    }

    @Test func `Subscription names the messages that are due, and a transaction what it has of Advanced Commerce`()
        async throws
    {
        try await SampleState.with { api, state in
            let commerce = #"{"advancedCommerceInfo":{"items":[{"SKU":"news"}]}}"#
            try await state.subscribed(
                "PRICE_INCREASE", "PENDING", consent: 0,
                decoded: #"{"data":{"signedTransactionInfo":\#(commerce)}}"#)
            let key = try await api.key()
            let messages = try await api.get(path, key: key).json?["messages"]?.elements
            #expect(messages?.map(\.string) == ["priceIncreaseConsent"])
            let transaction = try await api.get("/v1/transactions/\(SampleState.purchase)", key: key).json
            let items = transaction?["advancedCommerceInfo"]?["items"]?.elements
            #expect(items?.map { $0["SKU"]?.string } == ["news"])
        }
    }

    @Test func `Subscription of another environment or app is not found`() async throws {
        try await SampleState.with { api, state in
            try await state.subscribed()
            let live = try await api.key(environment: .production)
            #expect(try await api.get(path, key: live).problem == "not-found")
            let other = try await api.key(bundleIds: ["com.example.other"])
            for path in [
                path, "\(path)/timeline", "\(path)/notifications", "/v1/transactions/\(SampleState.purchase)",
            ] {
                #expect(try await api.get(path, key: other).problem == "not-found", "\(path)")
            }
            #expect(
                try await api.get("/v1/search?q=\(SampleState.purchase)", key: other).json?["data"]?.elements.count
                    == 0)
        }
    }

    @Test func `Refresh is asked of Apple once a minute, and the subscription says what became of it`() async throws {
        try await SampleState.with { api, state in
            try await state.subscribed()
            let key = try await api.key()
            #expect(try await api.get(path, key: key).json?["refresh"]?.isNull == true)
            let first = try await api.send("POST", "\(path)/refresh", key: key)
            #expect(first.status == 202 && first.json?["answeredAt"]?.isNull == true)
            let id = try #require(first.json?["refreshId"]?.string)
            #expect(try await api.send("POST", "\(path)/refresh", key: key).json?["refreshId"]?.string == id)
            // The next turn of the state-updater: there is no gap, and no time is given one to close.
            let outbox = OutboxStore(state.connection)
            let requests = try await outbox.requests(noticedBefore: api.clock.now.addingTimeInterval(-300))
            #expect(requests.map(\.message.before.uuidString) == [id.uppercased()])
            #expect(requests.map(\.message.skipped) == [["refresh"]])
            try await outbox.markPublished(requests: requests.map(\.id), at: api.clock.now)
            let answer = RecoveryAnswer(
                key: SubscriptionKey(environment: .sandbox, originalTransactionId: SampleState.purchase),
                bundleId: SampleState.app, before: requests[0].message.before,
                outcome: "answered", answeredAt: api.clock.now)
            try await RecoveryAnswerStore(state.connection).record([answer], attempts: [])
            let after = try #require(try await api.get(path, key: key).json?["refresh"])
            #expect(after["refreshId"]?.string == id && after["outcome"]?.string == "answered")
            try await api.pass(61)
            let second = try await api.send("POST", "\(path)/refresh", key: key)
            #expect(second.json?["refreshId"]?.string != id)
            // Long after the patience that gaps are given.
            let later = api.clock.now.addingTimeInterval(600)
            #expect(try await outbox.requests(noticedBefore: later).count == 1)
        }
    }

    @Test func `Pages of the timeline and of the notifications follow each other without gap or repetition`()
        async throws
    {
        try await SampleState.with { api, state in
            var told: [String] = []
            for number in 0..<5 {
                let uuid = try await state.subscribed(
                    number == 0 ? "SUBSCRIBED" : "DID_RENEW", number == 0 ? "INITIAL_BUY" : nil,
                    from: Double(number) * 10, to: Double(number + 1) * 10, transaction: "\(number)")
                told.append(uuid.uuidString.lowercased())
            }
            let key = try await api.key()
            for (kind, id) in [("notifications", "notificationUUID"), ("timeline", "id")] {
                var seen: [String] = []
                var next: String? = "\(path)/\(kind)?limit=2"
                while let target = next {
                    let answer = try await api.get(target, key: key)
                    #expect(answer.status == 200)
                    seen += (answer.json?["data"]?.elements ?? []).compactMap { $0[id]?.string }
                    next = answer.headers["link"].map { String($0.dropFirst().prefix { $0 != ">" }) }
                    #expect((answer.json?["nextCursor"]?.string == nil) == (next == nil))
                }
                #expect(seen.map { String($0.prefix(36)) } == told, "\(kind)")
            }
        }
    }

    @Test func `Cursor that was changed, made up, or belongs to another list is rejected`() async throws {
        try await SampleState.with { api, state in
            for number in 0..<3 { try await state.subscribed(transaction: "\(number)", signed: Double(number)) }
            let key = try await api.key()
            let page = try await api.get("\(path)/notifications?limit=1", key: key)
            let cursor = try #require(page.json?["nextCursor"]?.string)
            let again = try await api.get("\(path)/notifications?cursor=\(cursor)", key: key)
            #expect(again.json?["data"]?.elements.count == 2)
            let changed = (cursor.first == "A" ? "B" : "A") + cursor.dropFirst()
            for bad in [changed, "AAAA", cursor + "AAAA", String(cursor.dropLast(4)), "%00", "x"] {
                let answer = try await api.get("\(path)/notifications?cursor=\(bad)", key: key)
                #expect(answer.status == 400, "\(bad)")
            }
            let moved = try await api.get("\(path)/timeline?cursor=\(cursor)", key: key)
            #expect(moved.problem == "invalid-cursor")
            #expect(try await api.get("/v1/events?after=\(cursor)", key: key).problem == "invalid-cursor")
        }
    }

    @Test func `Transaction comes with the notification that held it, byte for byte, on request`() async throws {
        try await SampleState.with { api, state in
            let uuid = try await state.subscribed()
            let key = try await api.key()
            let plain = try await api.get("/v1/transactions/\(SampleState.purchase)", key: key)
            #expect(plain.json?["signedPayload"] == nil && plain.json?["advancedCommerceInfo"] == nil)
            #expect(plain.json?["originalTransactionId"]?.string == SampleState.purchase)
            let signed = try await api.get(
                "/v1/transactions/\(SampleState.purchase)?include=signedPayload", key: key)
            #expect(signed.json?["signedPayload"]?.string == "head.\(uuid.uuidString.lowercased()).tail")
            #expect(try await api.get("/v1/transactions/9", key: key).problem == "not-found")
        }
    }

    @Test func `Search finds a purchase by each of its ids, however they are spelled`() async throws {
        try await SampleState.with { api, state in
            let uuid = try await state.subscribed(transaction: "4")
            let key = try await api.key(bundleIds: [SampleState.app])
            _ = try await api.send(
                "PUT", "/v1/customers/user-1", key: key, json: #"{"appAccountToken":"\#(SampleState.account)"}"#)
            for (id, kind) in [
                (SampleState.purchase, "originalTransactionId"), ("4", "transactionId"),
                (uuid.uuidString, "notificationUUID"),
                ("%20\(SampleState.account.uppercased())%20", "appAccountToken"),
                ("user-1", "customerId"),
            ] {
                let hits = try await api.get("/v1/search?q=\(id)", key: key).json?["data"]?.elements
                #expect(hits?.map { $0["kind"]?.string } == [kind], "\(kind)")
            }
            #expect(try await api.get("/v1/search?q=nothing", key: key).json?["data"]?.elements.isEmpty == true)
        }
    }
}
