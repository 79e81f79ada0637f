import Development
import Foundation
import Synchronization
import Testing

@testable import AppStore
@testable import AppStoreSamples
@testable import ServerAPI

@Suite struct SecrecyTests {
    /// Everything that could be printed of a value.
    private static func texts(of value: Any) -> String {
        var dumped = ""
        dump(value, to: &dumped)
        return "\(value)\n\(String(reflecting: value))\n\(dumped)"
    }

    @Test func `Keys, tokens and payloads are in no text, however it is printed`() async throws {
        let replies: [ScriptedStore.Reply] = [
            .code(4_000_006), .answer(401), .code(5_000_001), .bytes(""), .bytes("HTTP/1.1 2x"), .json("{\"a\":"),
            .json(#"{"signedTransactionInfo":{"secretpayload":1}}"#), .answer(302), .silence,
            .answer(200, [UInt8](repeating: 32, count: 5000)),
            .code(4_290_000, headers: [("Retry-After", "1790000000000")]),
        ]
        for reply in replies {
            let secrets = Mutex<[String]>([])
            try await APIFixture.scene(keys: 2, maximumResponseBytes: 2000) { request, _ in
                secrets.withLock { $0 += [request.token, String(request.token.suffix(40))] }
                return reply
            } _: { fixture, store in
                var client = fixture.client(
                    store.url, retry: APIRetryPolicy(attempts: 2, attemptTimeout: .milliseconds(50)))
                client.deadline = .seconds(5)
                let error = try await APIFixture.error { _ = try await client.transactionInfo("1") }
                let printed = [
                    error as Any, fixture.attempts, client, fixture.credentials, fixture.credentials.keys[0],
                ]
                .map(Self.texts).joined()
                let keys = try fixture.keys.map { key in
                    try String(key.pem().split(separator: "\n")[1].prefix(40))
                }
                for secret in secrets.withLock(\.self) + keys + ["secretpayload"] {
                    #expect(!secret.isEmpty)
                    #expect(!printed.contains(secret))
                }
                #expect(printed.contains("KEY1"), "printing is what is tested here")
            }
        }
    }

    @Test func `Signed item prints as its verification result`() async throws {
        let material = try ForgeryMaterial(now: APIFixture.start)
        let jws = String(decoding: try material.signed(material.transaction()), as: UTF8.self)
        let forged = String(
            decoding: try PayloadSigner(authority: material.stranger).sign(material.transaction().json), as: UTF8.self)
        try await APIFixture.scene { _, _ in
            .json(#"{"revision":"1","signedTransactions":["\#(jws)","\#(forged)"]}"#)
        } _: { fixture, store in
            var client = fixture.client(store.url)
            client.verifier = try material.verifier()
            for try await page in client.transactionHistory(of: "1") {
                let printed = Self.texts(of: page)
                #expect(printed.contains("verified JWSTransactionDecodedPayload"))
                #expect(printed.contains("rejected JWSTransactionDecodedPayload: chain-untrusted"))
                #expect(!printed.contains("com.example.reader.monthly") && !printed.contains(jws.prefix(40)))
            }
        }
    }

    @Test func `Token itself prints as its key's number`() async throws {
        try await APIFixture.scene { fixture in
            let token = try BearerToken(fixture.credentials.keys[0], number: 0, bundleId: "b", now: fixture.now)
            #expect(Self.texts(of: token).contains("a token of key number 1"))
            #expect(!Self.texts(of: token).contains(token.text.suffix(20)))
        }
    }
}
