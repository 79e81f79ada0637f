import Foundation
import Testing
import WebhookDelivery

@testable import Devkit

struct WebhookReceiverTests {
    private static let secrets = WebhookSecrets(key: Array(repeating: 7, count: 32))
    private static let body = Array(
        #"{"type":"purchase.DID_RENEW","timestamp":"t","data":{"environment":"Sandbox","originalTransactionId":"2000","revision":3}}"#
            .utf8)

    private static func line(of body: [UInt8], secrets signer: WebhookSecrets = secrets) throws -> String? {
        let endpoint = WebhookEndpoint(
            id: UUID(), environment: .sandbox, url: "http://127.0.0.1:1/storekeeper-dev", createdAt: .distantPast)
        let headers = signer.headers(of: Self.body, id: "a/2000", for: endpoint, at: Date(timeIntervalSince1970: 9))
        return WebhookReceiver.line(of: body, to: endpoint.id.uuidString, secrets: secrets) { name in
            headers.first { $0.name == name }?.value ?? ""
        }
    }

    @Test func `WebhookReceiver says what a signed request is about`() throws {
        #expect(try Self.line(of: Self.body) == "purchase.DID_RENEW Sandbox 2000 revision 3 id a/2000")
    }

    @Test func `WebhookReceiver refuses a request that was changed or is signed with another secret`() throws {
        #expect(try Self.line(of: Self.body + [32]) == nil)
        #expect(try Self.line(of: Self.body, secrets: WebhookSecrets(key: Array(repeating: 8, count: 32))) == nil)
    }
}
