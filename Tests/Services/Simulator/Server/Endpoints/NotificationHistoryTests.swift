import Contracts
import Foundation
import StrictJSON
import Testing

@testable import Simulator

/// G4 to G12.
@Suite struct NotificationHistoryTests {
    @Test func `the signed payload is the one that was sent, byte for byte, with its attempts`() async throws {
        try await Desk.open { desk in
            var story = Story()
            let letter = try desk.send(
                story.next(.subscribe),
                answers: [
                    .unavailable, Answer(failure: "timed out", duration: .zero),
                    Answer(failure: "connect timed out", duration: .zero),
                    Answer(failure: "closed before the answer", duration: .zero),
                    Answer(failure: "no connection", duration: .zero), .accepted,
                ])
            let sent = try #require(try JSONDocument(letter.body).root["signedPayload"]?.string)
            let items = try await desk.items(desk.window())
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
                    == (0..<6).map { Desk.beginning.milliseconds + $0 * hour })
        }
    }

    @Test func `pages of twenty, oldest first, until there is no more`() async throws {
        try await Desk.open { desk in
            let notices = Story.subscriptions(45)
            for notice in notices { try desk.send(notice) }
            let body = desk.window()
            var sizes: [Int] = []
            var uuids: [String] = []
            var token: String?
            repeat {
                let page = try await desk.history(body, token: token)
                let json = try #require(page.json)
                sizes.append(json["notificationHistory"]?.elements.count ?? 0)
                uuids += try desk.uuids(json["notificationHistory"]?.elements ?? [])
                token = json["paginationToken"]?.string
                #expect(json["hasMore"]?.bool == (token != nil))
            } while token != nil
            #expect(sizes == [20, 20, 5])
            #expect(uuids == notices.map { $0.uuid.uuidString.lowercased() })
        }
    }

    @Test func `exactly twenty are one page`() async throws {
        try await Desk.open { desk in
            for notice in Story.subscriptions(20) { try desk.send(notice) }
            let json = try #require(try await desk.history(desk.window()).json)
            #expect(json["notificationHistory"]?.elements.count == 20)
            #expect(json["hasMore"]?.bool == false)
            #expect(json["paginationToken"] == nil)
        }
    }

    @Test func `a window selects by the first attempt, its end excluded, whatever was signed when`() async throws {
        try await Desk.open { desk in
            let notices = Story.subscriptions(3)
            // The second is accepted hours later: it stays where its first attempt was.
            try desk.send(notices[0])
            try desk.send(notices[1], answers: [.unavailable, .accepted])
            try desk.send(notices[2])
            let start = Desk.beginning.milliseconds
            let found = try await desk.items(#"{"startDate":\#(start + 1000),"endDate":\#(start + 2000)}"#)
            #expect(try desk.uuids(found) == [notices[1].uuid.uuidString.lowercased()])
        }
    }

    @Test func `only failures are those not taken yet, and a retry that succeeds ends that`() async throws {
        try await Desk.open { desk in
            let notices = Story.subscriptions(3)
            let failing = try desk.send(notices[0], answers: [.unavailable])
            try desk.send(notices[1])
            try desk.send(notices[2], answers: [.unavailable, .unavailable, .unavailable])
            let body = desk.window(#","onlyFailures":true"#)
            let before = try desk.uuids(try await desk.items(body))
            #expect(before == [notices[0], notices[2]].map { $0.uuid.uuidString.lowercased() })
            desk.archive.end(Delivery(letter: failing, attempt: 2), .accepted, sentAt: desk.now)
            let after = try desk.uuids(try await desk.items(body))
            #expect(after == [notices[2].uuid.uuidString.lowercased()])
        }
    }

    @Test func `a type alone means those without a subtype`() async throws {
        try await Desk.open { desk in
            var story = Story()
            for event in [LifeEvent.subscribe, .renew, .failToRenew, .recover] { try desk.send(story.next(event)) }
            func types(_ filter: String) async throws -> [String] {
                try desk.claims(of: try await desk.items(desk.window(filter))).map { claims in
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

    @Test func `a transaction id means its customer, whichever of the renewals it names`() async throws {
        try await Desk.open { desk in
            var story = Story()
            let mine = [story.next(.subscribe), story.next(.renew), story.next(.renew)]
            for notice in Story.subscriptions(25) { try desk.send(notice) }
            for notice in mine { try desk.send(notice) }
            for id in [story.id, story.transactionId] {
                let found = try await desk.items(desk.window(#","transactionId":"\#(id)""#))
                #expect(try desk.uuids(found) == mine.map { $0.uuid.uuidString.lowercased() })
            }
            let unknown = try await desk.history(desk.window(#","transactionId":"1""#))
            #expect(unknown.errorCode == 4_040_010)
        }
    }

    @Test func `environments do not see each other's notifications`() async throws {
        try await Desk.open { desk in
            try desk.send(Story.subscriptions(1, of: Desk.sandbox)[0])
            #expect(try await desk.items(desk.window()).isEmpty)
            #expect(try await desk.items(desk.window(), in: .sandbox).count == 1)
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
    func `what Apple refuses is refused with Apple's number`(members: String, code: Int64) async throws {
        try await Desk.open { desk in
            desk.move(by: 60)
            let body =
                "{"
                + members.replacingOccurrences(of: "START", with: "\(Desk.beginning.milliseconds)")
                .replacingOccurrences(of: "END", with: "\(desk.now.milliseconds)")
                .replacingOccurrences(of: "OLD", with: "\(desk.now.milliseconds - 181 * 86_400_000)") + "}"
            let answer = try await desk.history(body)
            #expect(answer.status == 400)
            #expect(answer.errorCode == code)
        }
    }

    @Test func `history goes back 180 days, in sandbox 30`() async throws {
        try await Desk.open { desk in
            for (environment, days) in [(StoreEnvironment.production, Int64(180)), (.sandbox, 30)] {
                let end = desk.now.milliseconds
                let start = end - days * 86_400_000
                let allowed = try await desk.history(
                    #"{"startDate":\#(start),"endDate":\#(end)}"#, in: environment)
                #expect(allowed.status == 200)
                let refused = try await desk.history(
                    #"{"startDate":\#(start - 1),"endDate":\#(end)}"#, in: environment)
                #expect(refused.errorCode == 4_000_012)
            }
        }
    }

    @Test func `a token is good for its own question only, and not when it was changed`() async throws {
        try await Desk.open { desk in
            for notice in Story.subscriptions(21) { try desk.send(notice) }
            let body = desk.window()
            let token = try #require(try await desk.history(body).json?["paginationToken"]?.string)
            let other = desk.window(#","onlyFailures":true"#)
            #expect(try await desk.history(other, token: token).errorCode == 4_000_014)
            #expect(try await desk.history(body, token: "x" + token.dropFirst()).errorCode == 4_000_014)
            #expect(try await desk.history(body, token: "").errorCode == 4_000_014)
            #expect(try await desk.history(body, token: token).status == 200)
        }
    }

    @Test func `a token expires, by time or on request`() async throws {
        try await Desk.open(tokenLife: 60) { desk in
            for notice in Story.subscriptions(21) { try desk.send(notice) }
            let body = desk.window()
            let token = try #require(try await desk.history(body).json?["paginationToken"]?.string)
            desk.faults.add(ServerFault(kind: .expiredTokens, remaining: 1))
            let struck = try await desk.history(body, token: token)
            #expect(struck.errorCode == 4_000_017)
            #expect(struck.errorMessage == "Invalid request. The pagination token is expired.")
            #expect(try await desk.history(body, token: token).status == 200)
            desk.move(by: 61)
            #expect(try await desk.history(body, token: token).errorCode == 4_000_017)
        }
    }

    @Test func `an end in the future is now, and who pages slowly comes to an end`() async throws {
        try await Desk.open { desk in
            for notice in Story.subscriptions(30) { try desk.send(notice) }
            let body = #"{"startDate":\#(Desk.beginning.milliseconds),"endDate":9999999999999}"#
            let first = try #require(try await desk.history(body).json)
            var story = Story()
            try desk.send(story.next(.subscribe))
            let token = try #require(first["paginationToken"]?.string)
            let second = try #require(try await desk.history(body, token: token).json)
            #expect(second["notificationHistory"]?.elements.count == 10)
            #expect(second["hasMore"]?.bool == false)
        }
    }

    @Test func `what is underway is in the history and no failure yet`() async throws {
        try await Desk.open { desk in
            try desk.send(Story.subscriptions(1)[0], answers: [])
            #expect(try await desk.items(desk.window()).first?["sendAttempts"]?.elements.count == 0)
            #expect(try await desk.items(desk.window(#","onlyFailures":true"#)).isEmpty)
        }
    }
}

extension Desk {
    /// A question about all until now, with further members.
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
        try items.map { try LetterWriterTests.claims(of: Array(try #require($0["signedPayload"]?.string).utf8)) }
    }

    func uuids(_ items: [JSONValue]) throws -> [String] {
        try claims(of: items).compactMap { $0["notificationUUID"]?.string }
    }
}
