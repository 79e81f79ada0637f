import AppStore
import Foundation
import ServerAPI
import Signatures
import StrictJSON
import TestSupport
import Testing

@testable import API
@testable import AppStoreSamples
@testable import SimulatedAppStore

@Suite struct OfferTests {
    static let account = UUID()

    /// With an In-App Purchase key for an app.
    static func withClients<Value>(
        for bundleId: String, isolation: isolated (any Actor)? = #isolation,
        _ body: (APIClients, P256PrivateKey) async throws -> Value
    ) async throws -> Value {
        let key = try SimulatedKey("KEY1")
        let apps = AppRegistry(apps: [AcceptedApp(bundleId: bundleId, appAppleId: ForgeryMaterial.appAppleId)])
        let directory = try TemporaryDirectory()
        let keys = try APIKeysFile(contentsOf: try SimulatedKey.write([(bundleId, key)], to: directory.url), apps: apps)
        directory.remove()
        let transport = APITransport()
        let clients = APIClients(
            apps: apps, keys: keys, verifier: SignedDataVerifier(trust: .apple, apps: apps), transport: transport,
            clock: APIClock(now: { UploadFixture.now }, random: { 0 }), baseURL: "http://127.0.0.1:1")
        let outcome: Result<Value, any Error>
        do {
            outcome = .success(try await body(clients, key.privateKey))
        } catch {
            outcome = .failure(error)
        }
        try await transport.shutdown()
        return try outcome.get()
    }

    static func with(_ body: (UploadFixture, P256PrivateKey) async throws -> Void) async throws {
        try await withClients(for: ForgeryMaterial.bundleId) { clients, key in
            try await UploadFixture.with(apple: clients) { fixture in try await body(fixture, key) }
        }
    }

    private static func claims(_ jws: String?, signedBy key: P256PrivateKey) throws -> JSONValue {
        let parts = try #require(CompactJWS(Array((jws ?? "").utf8)[...]))
        let signature = try #require(Base64.decode(parts.signature, .url))
        #expect(try key.publicKey().isValid(signature: signature, over: Array(parts.signed)))
        return try JSONDocument(#require(Base64.decode(parts.payload, .url))).root
    }

    @Test func `A promotional offer is signed in both shapes`() async throws {
        try await Self.with { fixture, key in
            let answer = try await fixture.post("/v1/offers/promotional") { json in
                json.member("productId", "gold")
                json.member("offerIdentifier", "spring")
                json.member("appAccountToken", Self.account.uuidString)
            }
            #expect(answer.status == 200)
            let claims = try Self.claims(answer.json?["jws"]?.string, signedBy: key)
            #expect(claims["aud"]?.string == "promotional-offer" && claims["offerIdentifier"]?.string == "spring")
            let fields = try #require(answer.json?["storeKit1"])
            #expect(fields["keyIdentifier"]?.string == "KEY1")
            #expect(fields["applicationUsername"]?.string == Self.account.uuidString.lowercased())
            #expect(fields["nonce"]?.string == claims["nonce"]?.string)
            #expect(fields["timestamp"]?.int64 == 1_765_000_000_000)
            #expect(fields["signature"]?.string?.isEmpty == false)
        }
    }

    @Test func `An offer for an app without a key is rejected with what to do`() async throws {
        try await UploadFixture.with { fixture in
            let answer = try await fixture.post("/v1/offers/promotional") { json in
                json.member("productId", "gold")
                json.member("offerIdentifier", "spring")
            }
            #expect(answer.problem == "conflict")
        }
    }

    @Test func `An account is eligible until a transaction of the group used an introductory offer`() async throws {
        try await Self.with { fixture, key in
            func ask() async throws -> RunningAPI.Answer {
                try await fixture.post("/v1/offers/introductory-eligibility") { json in
                    json.member("subscriptionGroupIdentifier", "20000001")
                    json.member("appAccountToken", Self.account.uuidString)
                    json.member("productId", "gold")
                    json.member("transactionId", "7")
                }
            }
            let before = try await ask()
            #expect(before.json?["isEligible"]?.bool == true && before.json?["isKnown"]?.bool == false)
            let signed = try fixture.transaction(of: Self.account) { $0.offerType = .introductory }
            _ = try await fixture.upload([signed], of: Self.account)
            try await fixture.apply(fixture.records(1))
            let after = try await ask()
            #expect(after.json?["isEligible"]?.bool == false && after.json?["isKnown"]?.bool == true)
            #expect(after.json?["usedByTransactionId"]?.string == "2000000000000001")
            let claims = try Self.claims(after.json?["jws"]?.string, signedBy: key)
            #expect(claims["allowIntroductoryOffer"]?.bool == false)
        }
    }
}
