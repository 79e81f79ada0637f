import Foundation
import Signatures
import StrictJSON
import Synchronization
import TestSupport
import Testing

@testable import AppStore
@testable import AppStoreSamples
@testable import ServerAPI

@Suite struct TokenSourceTests {
    private static let info = ScriptedStore.Reply.json(#"{"signedTransactionInfo":"a.b.c"}"#)

    @Test func `Token says who, for which app and until when, as Apple wants it`() async throws {
        try await APIFixture.scene { _, _ in
            Self.info
        } _: { fixture, store in
            _ = try await fixture.client(store.url).transactionInfo("1")
            let (header, claims) = try APIFixture.token(try #require(store.requests.first))
            #expect(header.members.map(\.key) == ["alg", "kid", "typ"])
            #expect(
                header["alg"]?.string == "ES256" && header["kid"]?.string == "KEY1" && header["typ"]?.string == "JWT")
            #expect(claims.members.map(\.key) == ["iss", "iat", "exp", "aud", "bid"])
            #expect(claims["iss"]?.string == "issuer" && claims["aud"]?.string == "appstoreconnect-v1")
            #expect(claims["bid"]?.string == ForgeryMaterial.bundleId)
            #expect(claims["iat"]?.int64 == 1_779_999_940)
            #expect(claims["exp"]?.int64 == 1_780_001_140)
        }
    }

    @Test func `Token is used until half its life, and never later`() async throws {
        try await APIFixture.scene { _, _ in
            Self.info
        } _: { fixture, store in
            let client = fixture.client(store.url)
            for pass in [0, 599, 1, 599] {
                fixture.ticking.pass(.seconds(pass))
                _ = try await client.transactionInfo("1")
            }
            let tokens = store.requests.map(\.token)
            #expect(tokens[0] == tokens[1] && tokens[1] != tokens[2] && tokens[2] == tokens[3])
        }
    }

    @Test func `Key that Apple refuses is replaced by the other, which is kept`() async throws {
        let revoked = KeyList(["KEY1"])
        try await APIFixture.scene(keys: 2) { request, _ in
            revoked.holds(request) ? .answer(401) : Self.info
        } _: { fixture, store in
            let client = fixture.client(store.url)
            for _ in 0..<3 { _ = try await client.transactionInfo("1") }
            #expect(try store.requests.map { try fixture.signer(of: $0) } == [0, 1, 1, 1])
            // The second is revoked, and the first, created again under the same id, is back.
            revoked.replace(["KEY2"])
            for _ in 0..<2 { _ = try await client.transactionInfo("1") }
            #expect(try store.requests.suffix(3).map { try fixture.signer(of: $0) } == [1, 0, 0])
        }
    }

    @Test func `TokenSource serves many calls at once through a rotation`() async throws {
        let revoked = KeyList([])
        try await APIFixture.scene(keys: 2) { request, number in
            if number == 20 { revoked.replace(["KEY1"]) }
            return revoked.holds(request) ? .answer(401) : Self.info
        } _: { fixture, store in
            let client = fixture.client(store.url)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<60 { group.addTask { _ = try await client.transactionInfo("1") } }
                try await group.waitForAll()
            }
            #expect(fixture.attempts.filter { $0.result == "success" }.count == 60)
            #expect(fixture.attempts.contains { $0.result == "unauthorized" })
        }
    }

    @Test func `AppStoreServerAPI uses reloaded keys, in copies too`() async throws {
        try await APIFixture.scene(keys: 2) { request, _ in
            KeyList(["KEY1"]).holds(request) ? .answer(401) : Self.info
        } _: { fixture, store in
            let client = fixture.client(store.url)
            let copy = client
            await client.use(APICredentials(keys: [fixture.credentials.keys[0]]))
            let error = try await APIFixture.error { _ = try await copy.transactionInfo("1") }
            #expect(error.status == 401)
            await client.use(APICredentials(keys: [fixture.credentials.keys[1]]))
            _ = try await copy.transactionInfo("1")
            #expect(try fixture.signer(of: #require(store.requests.last)) == 1)
        }
    }

    @Test func `Call whose key is replaced while it is under way goes on with the new one`() async throws {
        try await APIFixture.scene(keys: 2) { fixture in
            let old = fixture.credentials.keys[0]
            let tokens = TokenSource(APICredentials(keys: [old]), bundleId: "b")
            let token = try await tokens.token(now: fixture.now)
            await tokens.use(APICredentials(keys: [fixture.credentials.keys[1]]))
            #expect(await tokens.rejected(token, serverDate: nil, now: fixture.now))
            let next = try await tokens.token(now: fixture.now)
            #expect(next.keyId == "KEY2")
            #expect(await !tokens.rejected(next, serverDate: nil, now: fixture.now), "there is no other")
        }
    }

    @Test func `Token for other tools is one that Apple accepts`() throws {
        let key = try P256PrivateKey.generate()
        let token = try APIKey(issuerId: "i", keyId: "k", privateKey: key).secretToken(
            bundleId: "b", now: APIFixture.start)
        let parts = try #require(CompactJWS(Array(token.utf8)[...]))
        let signature = try #require(Base64.decode(parts.signature, .url))
        #expect(try key.publicKey().isValid(signature: signature, over: Array(parts.signed)))
    }

    @Test func `Error when every key is rejected names the keys and what to check`() async throws {
        try await APIFixture.scene(keys: 2) { _, _ in
            .answer(401)
        } _: { fixture, store in
            let error = try await APIFixture.error { _ = try await fixture.client(store.url).transactionInfo("1") }
            #expect(error.status == 401 && !error.isRetryable)
            #expect(error.description.contains("KEY1, KEY2") && error.description.contains("clock"))
            #expect(store.requests.count == 3)
        }
    }

    @Test func `Client without a key sends nothing`() async throws {
        try await APIFixture.scene(keys: 0) { _, _ in
            Self.info
        } _: { fixture, store in
            let error = try await APIFixture.error { _ = try await fixture.client(store.url).transactionInfo("1") }
            #expect(error.description == "there is no key for com.example.reader; list one in the file of API keys")
            #expect(store.requests.isEmpty)
        }
    }

    @Test(arguments: [7200.0, -7200.0])
    func `TokenSource corrects a wrong local clock by Apple's`(ahead: Double) async throws {
        // Refuses what is not issued now by its own clock, as Apple does.
        try await APIFixture.scene { request, _ in
            let issued = (try? APIFixture.token(request).claims["iat"]?.int64) ?? 0
            return abs(Double(issued) - APIFixture.start.timeIntervalSince1970) < 300
                ? Self.info : .answer(401, headers: [("Date", "Thu, 28 May 2026 20:26:40 GMT")])
        } _: { fixture, store in
            let client = fixture.client(store.url, ahead: ahead)
            for _ in 0..<2 { _ = try await client.transactionInfo("1") }
            #expect(store.requests.count == 3, "once rejected, then corrected for good")
        }
    }

    @Test func `Rejection at the right time does not move the clock`() async throws {
        try await APIFixture.scene { _, _ in
            .answer(401, headers: [("Date", "Thu, 28 May 2026 20:26:45 GMT")])
        } _: { fixture, store in
            let error = try await APIFixture.error { _ = try await fixture.client(store.url).transactionInfo("1") }
            #expect(error.status == 401 && store.requests.count == 1)
        }
    }
}

/// Which keys a store refuses; changed while it runs.
private final class KeyList: Sendable {
    private let names: Mutex<Set<String>>

    init(_ names: Set<String>) { self.names = Mutex(names) }

    func replace(_ other: Set<String>) { names.withLock { $0 = other } }

    func holds(_ request: ScriptedStore.Request) -> Bool {
        let name = (try? APIFixture.token(request).header["kid"]?.string) ?? ""
        return names.withLock { $0.contains(name) }
    }
}
