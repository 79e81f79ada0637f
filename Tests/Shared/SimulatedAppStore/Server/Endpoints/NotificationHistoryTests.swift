import Contracts
import Foundation
import StrictJSON
import Testing

@testable import SimulatedAppStore

/// G4 to G12.
@Suite struct NotificationHistoryTests {
    @Test func `signedPayload of the history is what was sent, byte for byte, with its attempts`() async throws {
        try await SimulatorFixture.open { fixture in
            var story = PurchaseFixture()
            let notification = try fixture.send(
                story.next(.subscribe),
                answers: [
                    .unavailable, Answer(failure: "timed out", duration: .zero),
                    Answer(failure: "connect timed out", duration: .zero),
                    Answer(failure: "closed before the answer", duration: .zero),
                    Answer(failure: "no connection", duration: .zero), .accepted,
                ])
            let sent = try #require(try JSONDocument(notification.body).root["signedPayload"]?.string)
            let items = try await fixture.items(fixture.window())
            #expect(items.count == 1)
            let item = try #require(items.first)
            #expect(item["signedPayload"]?.string == sent)
            let attempts = try #require(item["sendAttempts"]).elements
            #expect(
                attempts.compactMap { $0["sendAttemptResult"]?.string } == [
                    "UNSUCCESSFUL_HTTP_RESPONSE_CODE", "TIMED_OUT", "NO_RESPONSE", "PREMATURE_CLOSE", "SOCKET_ISSUE",
                    "SUCCESS",
                ])
            let hour: Int64 = 3_600_000
            #expect(
                attempts.compactMap { $0["attemptDate"]?.int64 }
                    == (0..<6).map { SimulatorFixture.beginning.milliseconds + $0 * hour })
        }
    }

    @Test func `History has pages of twenty, oldest first, until hasMore is false`() async throws {
        try await SimulatorFixture.open { fixture in
            let events = PurchaseFixture.subscriptions(45)
            for event in events { try fixture.send(event) }
            let body = fixture.window()
            var sizes: [Int] = []
            var uuids: [String] = []
            var token: String?
            repeat {
                let page = try await fixture.history(body, token: token)
                let json = try #require(page.json)
                sizes.append(json["notificationHistory"]?.elements.count ?? 0)
                uuids += try fixture.uuids(json["notificationHistory"]?.elements ?? [])
                token = json["paginationToken"]?.string
                #expect(json["hasMore"]?.bool == (token != nil))
            } while token != nil
            #expect(sizes == [20, 20, 5])
            #expect(uuids == events.map { $0.uuid.uuidString.lowercased() })
        }
    }

    @Test func `Twenty notifications are exactly one page`() async throws {
        try await SimulatorFixture.open { fixture in
            for event in PurchaseFixture.subscriptions(20) { try fixture.send(event) }
            let json = try #require(try await fixture.history(fixture.window()).json)
            #expect(json["notificationHistory"]?.elements.count == 20)
            #expect(json["hasMore"]?.bool == false)
            #expect(json["paginationToken"] == nil)
        }
    }

    @Test func `History window selects by the first attempt, without its end, whatever signedDate says`() async throws {
        try await SimulatorFixture.open { fixture in
            let events = PurchaseFixture.subscriptions(3)
            // The second is accepted hours later: it stays where its first attempt was.
            try fixture.send(events[0])
            try fixture.send(events[1], answers: [.unavailable, .accepted])
            try fixture.send(events[2])
            let start = SimulatorFixture.beginning.milliseconds
            let found = try await fixture.items(#"{"startDate":\#(start + 1000),"endDate":\#(start + 2000)}"#)
            #expect(try fixture.uuids(found) == [events[1].uuid.uuidString.lowercased()])
        }
    }

    @Test func `onlyFailures selects what is not accepted yet, and a successful retry ends that`() async throws {
        try await SimulatorFixture.open { fixture in
            let events = PurchaseFixture.subscriptions(3)
            let failing = try fixture.send(events[0], answers: [.unavailable])
            try fixture.send(events[1])
            try fixture.send(events[2], answers: [.unavailable, .unavailable, .unavailable])
            let body = fixture.window(#","onlyFailures":true"#)
            let before = try fixture.uuids(try await fixture.items(body))
            #expect(before == [events[0], events[2]].map { $0.uuid.uuidString.lowercased() })
            fixture.historyStore.end(
                NotificationDelivery(notification: failing, attempt: 2), .accepted, sentAt: fixture.now)
            let after = try fixture.uuids(try await fixture.items(body))
            #expect(after == [events[2].uuid.uuidString.lowercased()])
        }
    }

    @Test func `Type without a subtype selects notifications without a subtype`() async throws {
        try await SimulatorFixture.open { fixture in
            var story = PurchaseFixture()
            for event in [LifecycleEvent.subscribe, .renew, .failToRenew, .recover] {
                try fixture.send(story.next(event))
            }
            func types(_ filter: String) async throws -> [String] {
                try fixture.claims(of: try await fixture.items(fixture.window(filter))).map { claims in
                    [claims["notificationType"]?.string, claims["subtype"]?.string].compactMap(\.self)
                        .joined(separator: "/")
                }
            }
            #expect(try await types(#","notificationType":"DID_RENEW""#) == ["DID_RENEW"])
            let recovered = #","notificationType":"DID_RENEW","notificationSubtype":"BILLING_RECOVERY""#
            #expect(try await types(recovered) == ["DID_RENEW/BILLING_RECOVERY"])
            #expect(try await types(#","notificationType":"SUBSCRIBED""#) == [])
            #expect(try await types("").count == 4)
        }
    }

    @Test func `Transaction id selects its customer, whichever renewal it names`() async throws {
        try await SimulatorFixture.open { fixture in
            var story = PurchaseFixture()
            let mine = [story.next(.subscribe), story.next(.renew), story.next(.renew)]
            for event in PurchaseFixture.subscriptions(25) { try fixture.send(event) }
            for event in mine { try fixture.send(event) }
            for id in [story.id, story.transactionId] {
                let found = try await fixture.items(fixture.window(#","transactionId":"\#(id)""#))
                #expect(try fixture.uuids(found) == mine.map { $0.uuid.uuidString.lowercased() })
            }
            let unknown = try await fixture.history(fixture.window(#","transactionId":"1""#))
            #expect(unknown.errorCode == 4_040_010)
        }
    }

    @Test func `Environments do not see each other's notifications`() async throws {
        try await SimulatorFixture.open { fixture in
            try fixture.send(PurchaseFixture.subscriptions(1, of: SimulatorFixture.sandbox)[0])
            #expect(try await fixture.items(fixture.window()).isEmpty)
            #expect(try await fixture.items(fixture.window(), in: .sandbox).count == 1)
        }
    }

    @Test(arguments: [
        (#""endDate":END"#, 4_000_015), (#""startDate":"x","endDate":END"#, 4_000_015),
        (#""startDate":START"#, 4_000_016), (#""startDate":END,"endDate":START"#, 4_000_013),
        (#""startDate":START,"endDate":START"#, 4_000_013),
        (#""startDate":OLD,"endDate":END"#, 4_000_012),
        (#""startDate":START,"endDate":END,"notificationType":"DID_RENEW","transactionId":"1""#, 4_000_019),
        (#""startDate":START,"endDate":END,"notificationSubtype":"VOLUNTARY""#, 4_000_018),
        (#""startDate":START,"endDate":END,"notificationType":"NONSENSE""#, 4_000_018),
        (
            #""startDate":START,"endDate":END,"notificationType":"DID_RENEW","notificationSubtype":"VOLUNTARY""#,
            4_000_018
        ),
        (#""startDate":START,"endDate":END,"transactionId":"12a""#, 4_000_006),
        (#""startDate":START,"endDate":END,"onlyFailures":"yes""#, 4_000_000),
    ])
    func `Invalid request has Apple's error code`(members: String, code: Int64) async throws {
        try await SimulatorFixture.open { fixture in
            fixture.move(by: 60)
            let body =
                "{"
                + members.replacingOccurrences(of: "START", with: "\(SimulatorFixture.beginning.milliseconds)")
                .replacingOccurrences(of: "END", with: "\(fixture.now.milliseconds)")
                .replacingOccurrences(of: "OLD", with: "\(fixture.now.milliseconds - 181 * 86_400_000)") + "}"
            let answer = try await fixture.history(body)
            #expect(answer.status == 400)
            #expect(answer.errorCode == code)
        }
    }

    @Test func `History goes back 180 days, and 30 in the sandbox`() async throws {
        try await SimulatorFixture.open { fixture in
            for (environment, days) in [(StoreEnvironment.production, Int64(180)), (.sandbox, 30)] {
                let end = fixture.now.milliseconds
                let start = end - days * 86_400_000
                let allowed = try await fixture.history(
                    #"{"startDate":\#(start),"endDate":\#(end)}"#, in: environment)
                #expect(allowed.status == 200)
                let rejected = try await fixture.history(
                    #"{"startDate":\#(start - 1),"endDate":\#(end)}"#, in: environment)
                #expect(rejected.errorCode == 4_000_012)
            }
        }
    }

    @Test func `Pagination token is valid for its own request only, and not when it was changed`() async throws {
        try await SimulatorFixture.open { fixture in
            for event in PurchaseFixture.subscriptions(21) { try fixture.send(event) }
            let body = fixture.window()
            let token = try #require(try await fixture.history(body).json?["paginationToken"]?.string)
            let other = fixture.window(#","onlyFailures":true"#)
            #expect(try await fixture.history(other, token: token).errorCode == 4_000_014)
            #expect(try await fixture.history(body, token: "x" + token.dropFirst()).errorCode == 4_000_014)
            #expect(try await fixture.history(body, token: "").errorCode == 4_000_014)
            #expect(try await fixture.history(body, token: token).status == 200)
        }
    }

    @Test func `Pagination token expires, by time or on request`() async throws {
        try await SimulatorFixture.open(tokenLife: 60) { fixture in
            for event in PurchaseFixture.subscriptions(21) { try fixture.send(event) }
            let body = fixture.window()
            let token = try #require(try await fixture.history(body).json?["paginationToken"]?.string)
            fixture.faults.add(ServerFault(kind: .expiredTokens, remaining: 1))
            let struck = try await fixture.history(body, token: token)
            #expect(struck.errorCode == 4_000_017)
            #expect(struck.errorMessage == "Invalid request. The pagination token is expired.")
            #expect(try await fixture.history(body, token: token).status == 200)
            fixture.move(by: 61)
            #expect(try await fixture.history(body, token: token).errorCode == 4_000_017)
        }
    }

    @Test func `End in the future counts as now, and slow paging comes to an end`() async throws {
        try await SimulatorFixture.open { fixture in
            for event in PurchaseFixture.subscriptions(30) { try fixture.send(event) }
            let body = #"{"startDate":\#(SimulatorFixture.beginning.milliseconds),"endDate":9999999999999}"#
            let first = try #require(try await fixture.history(body).json)
            var story = PurchaseFixture()
            try fixture.send(story.next(.subscribe))
            let token = try #require(first["paginationToken"]?.string)
            let second = try #require(try await fixture.history(body, token: token).json)
            #expect(second["notificationHistory"]?.elements.count == 10)
            #expect(second["hasMore"]?.bool == false)
        }
    }

    @Test func `Notification being sent is in the history and is no failure yet`() async throws {
        try await SimulatorFixture.open { fixture in
            try fixture.send(PurchaseFixture.subscriptions(1)[0], answers: [])
            #expect(try await fixture.items(fixture.window()).first?["sendAttempts"]?.elements.count == 0)
            #expect(try await fixture.items(fixture.window(#","onlyFailures":true"#)).isEmpty)
        }
    }
}

extension SimulatorFixture {
    /// A request for everything until now, with further members.
    func window(_ members: String = "") -> String {
        #"{"startDate":\#(Self.beginning.milliseconds),"endDate":\#(now.milliseconds + 1)\#(members)}"#
    }

    func history(
        _ body: String, token: String? = nil, in environment: StoreEnvironment = .production
    ) async throws -> Answer {
        try await post(
            "v1/notifications/history" + (token.map { "?paginationToken=\($0)" } ?? ""), body, in: environment)
    }

    func items(_ body: String, in environment: StoreEnvironment = .production) async throws -> [JSONValue] {
        let answer = try await history(body, in: environment)
        #expect(answer.status == 200, "\(answer.errorMessage ?? "")")
        return answer.json?["notificationHistory"]?.elements ?? []
    }

    func claims(of items: [JSONValue]) throws -> [JSONValue] {
        try items.map { try NotificationSignerTests.claims(of: Array(try #require($0["signedPayload"]?.string).utf8)) }
    }

    func uuids(_ items: [JSONValue]) throws -> [String] {
        try claims(of: items).compactMap { $0["notificationUUID"]?.string }
    }
}
