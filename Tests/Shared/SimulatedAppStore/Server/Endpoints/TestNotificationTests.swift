import Foundation
import StrictJSON
import Testing

@testable import SimulatedAppStore

/// F11 to F13.
@Suite struct TestNotificationTests {
    @Test func `Test notification is sent on request, and its status is available once it was sent`() async throws {
        try await SimulatorFixture.open { fixture in
            let ordered = try await fixture.post("v1/notifications/test")
            let token = try #require(ordered.json?["testNotificationToken"]?.string)
            let early = try await fixture.get("v1/notifications/test/\(token)")
            #expect(early.status == 404)
            #expect(early.errorCode == 4_040_008)
            let event = try #require(fixture.nextOrdered())
            #expect(event.kind == .test)
            #expect(event.app == SimulatorFixture.production)
            let notification = try fixture.send(event, answers: [.unavailable, .accepted])
            let json = try #require(try await fixture.get("v1/notifications/test/\(token)").json)
            let sent = try #require(try JSONDocument(notification.body).root["signedPayload"]?.string)
            #expect(json["signedPayload"]?.string == sent)
            let results = json["sendAttempts"]?.elements.map { $0["sendAttemptResult"]?.string }
            #expect(results == ["UNSUCCESSFUL_HTTP_RESPONSE_CODE", "SUCCESS"])
            let claims = try fixture.proven(sent)
            #expect(claims["notificationType"]?.string == "TEST")
            #expect(claims["data"]?["signedTransactionInfo"] == nil)
            #expect(claims["data"]?["bundleId"]?.string == "com.example.app")
        }
    }

    @Test func `Unknown test notification token is rejected, also in its own environment`() async throws {
        try await SimulatorFixture.open { fixture in
            let ordered = try await fixture.post("v1/notifications/test")
            let token = try #require(ordered.json?["testNotificationToken"]?.string)
            #expect(try await fixture.get("v1/notifications/test/x").errorCode == 4_000_020)
            #expect(try await fixture.get("v1/notifications/test/\(token)", in: .sandbox).errorCode == 4_000_020)
        }
    }

    @Test func `Test notification without a URL is rejected`() async throws {
        try await SimulatorFixture.open { fixture in
            fixture.faults.add(ServerFault(kind: .noURL))
            let answer = try await fixture.post("v1/notifications/test")
            #expect(answer.status == 404)
            #expect(answer.errorCode == 4_040_007)
            #expect(fixture.nextOrdered() == nil)
        }
    }
}
