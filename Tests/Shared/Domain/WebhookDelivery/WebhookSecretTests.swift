import Contracts
import Foundation
import StrictJSON
import Testing

@testable import WebhookDelivery

@Suite struct WebhookSecretTests {
    static let secrets = WebhookSecrets(key: Array("0123456789abcdef0123456789abcdef".utf8))
    static let now = Date(timeIntervalSince1970: 1_765_000_000)
    static var endpoint: WebhookEndpoint {
        WebhookEndpoint(
            id: UUID(uuidString: "0B7E1C62-52F5-4C4E-8D6A-111111111111") ?? UUID(), environment: .production,
            url: "https://example.com/hook", createdAt: now)
    }

    @Test func `The signature is that of the example of Standard Webhooks`() {
        // From the specification's reference libraries.
        let secret = [UInt8](Data(base64Encoded: "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw") ?? Data())
        let signature = WebhookSignature.text(
            of: Array(#"{"test": 2432232314}"#.utf8), id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330,
            secret: secret)
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test func `Secrets differ by endpoint and generation, and are the same for the same key`() {
        let (one, other) = (Self.endpoint.id, UUID())
        let all = [
            Self.secrets.text(of: one, generation: 1), Self.secrets.text(of: one, generation: 2),
            Self.secrets.text(of: other, generation: 1),
        ]
        #expect(Set(all).count == 3 && all.allSatisfy { $0.hasPrefix("whsec_") && $0.count == 50 })
        let again = WebhookSecrets(key: Array("0123456789abcdef0123456789abcdef".utf8))
        #expect(again.text(of: one, generation: 1) == all[0])
    }

    @Test func `For a day after a rotation both secrets sign`() {
        var endpoint = Self.endpoint
        #expect(WebhookSecrets.generations(of: endpoint, at: Self.now) == [1])
        endpoint.generation = 2
        endpoint.rotatedAt = Self.now
        #expect(WebhookSecrets.generations(of: endpoint, at: Self.now.addingTimeInterval(86_399)) == [2, 1])
        #expect(WebhookSecrets.generations(of: endpoint, at: Self.now.addingTimeInterval(86_400)) == [2])
        let headers = Self.secrets.headers(of: [1, 2], id: "x", for: endpoint, at: Self.now.addingTimeInterval(0.9))
        #expect(headers.map(\.name) == ["webhook-id", "webhook-timestamp", "webhook-signature"])
        #expect(headers[1].value == "1765000000")
        #expect(headers[2].value.split(separator: " ").count == 2)
    }
}

@Suite struct WebhookBodyTests {
    static func message(_ event: String = "DID_RENEW", values: Int = 1, length: Int = 3) -> SubscriptionChanged {
        SubscriptionChanged(
            environment: .production, originalTransactionId: "20001", bundleId: "com.example.app",
            appAccountToken: "7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7b", event: event,
            changes: (0..<values).map {
                FactChange(fact: "fact\($0)", from: String(repeating: "a", count: length), to: "b")
            },
            state: .init(status: 1, productId: "gold", hasAccess: true, accessUntil: nil, isAutoRenewing: true),
            revision: 7, sequence: 99,
            notificationUUID: UUID(uuidString: "00000000-0000-4000-8000-000000000001") ?? UUID(),
            occurredAt: Date(timeIntervalSince1970: 1_765_000_000.25),
            appliedAt: Date(timeIntervalSince1970: 1_765_000_001),
            traceparent: nil)
    }

    @Test func `The body has the type with Apple's name, Apple's time and the message of the topic`() throws {
        let message = Self.message("EXPIRED/VOLUNTARY")
        let root = try JSONDocument(WebhookBody.of(message)).root
        #expect(root["type"]?.string == "purchase.EXPIRED.VOLUNTARY")
        #expect(root["timestamp"]?.string == "2025-12-06T05:46:40.250Z")
        #expect(root["data"]?["event"]?.string == "EXPIRED/VOLUNTARY")
        #expect(root["data"]?["sequence"]?.int64 == 99)
        let text = String(decoding: WebhookBody.of(message), as: UTF8.self)
        #expect(text.contains(String(decoding: message.record().value, as: UTF8.self)))
    }

    @Test(arguments: [(1, 50_000), (60, 1000), (2000, 3), (5000, 4000)])
    func `A body has at most 20 kB`(values: Int, length: Int) throws {
        let bytes = WebhookBody.of(Self.message(values: values, length: length))
        #expect(bytes.count <= 20_000)
        #expect(try JSONDocument(bytes).root["data"]?["changes"]?.elements.count ?? 0 >= 1)
    }

    @Test func `A filter admits apps, types or types with subtype, and facts`() {
        let message = Self.message("EXPIRED/VOLUNTARY")
        #expect(WebhookFilter().admits(message))
        #expect(WebhookFilter(bundleIds: ["com.example.app"], events: ["EXPIRED"], facts: ["fact0"]).admits(message))
        #expect(WebhookFilter(events: ["EXPIRED/VOLUNTARY"]).admits(message))
        #expect(!WebhookFilter(events: ["EXPIRED/BILLING_RETRY", "EXPIRE"]).admits(message))
        #expect(!WebhookFilter(bundleIds: ["com.example"]).admits(message))
        #expect(!WebhookFilter(facts: ["accessUntil"]).admits(message))
    }
}
