import Foundation
import Signatures
import StrictJSON
import Synchronization
import TestSupport
import Testing

@testable import AppStore
@testable import AppStoreSamples
@testable import ServerAPI

/// What a test of the client needs: keys, a trusted signer, a clock that hurries, and a list of what was attempted.
final class APIFixture: Sendable {
    static let start = Date(timeIntervalSince1970: 1_780_000_000)
    static let app = AcceptedApp(bundleId: ForgeryMaterial.bundleId, appAppleId: ForgeryMaterial.appAppleId)

    let material: ForgeryMaterial
    let verifier: SignedDataVerifier
    let keys: [P256PrivateKey]
    let transport: APITransport
    let ticking = SkippingClock()
    private let attempted = Mutex<[APIAttempt]>([])

    private init(keys count: Int, maximumResponseBytes: Int) throws {
        material = try ForgeryMaterial(now: Self.start)
        verifier = try material.verifier()
        keys = try (0..<count).map { _ in try P256PrivateKey.generate() }
        transport = APITransport(maximumResponseBytes: maximumResponseBytes)
    }

    /// With a store that follows a script, all of which ends with the body.
    static func scene<Result>(
        keys: Int = 1, maximumResponseBytes: Int = 1 << 20,
        _ script: @escaping @Sendable (ScriptedStore.Request, Int) -> ScriptedStore.Reply,
        _ body: (APIFixture, ScriptedStore) async throws -> Result
    ) async throws -> Result {
        let store = try ScriptedStore(script)
        defer { store.close() }
        return try await scene(keys: keys, maximumResponseBytes: maximumResponseBytes) { try await body($0, store) }
    }

    static func scene<Result>(
        keys: Int = 1, maximumResponseBytes: Int = 1 << 20, _ body: (APIFixture) async throws -> Result
    ) async throws -> Result {
        let fixture = try APIFixture(keys: keys, maximumResponseBytes: maximumResponseBytes)
        do {
            let result = try await body(fixture)
            try await fixture.transport.shutdown()
            return result
        } catch {
            try await fixture.transport.shutdown()
            throw error
        }
    }

    var attempts: [APIAttempt] { attempted.withLock(\.self) }
    var now: Date { Self.start.addingTimeInterval(ticking.now.offset / .seconds(1)) }

    /// - Parameter ahead: How much the local clock is ahead.
    func clock(ahead: Double = 0) -> APIClock {
        APIClock(clock: ticking, now: { self.now.addingTimeInterval(ahead) }, random: { 1 })
    }

    var credentials: APICredentials {
        APICredentials(
            keys: keys.enumerated().map { APIKey(issuerId: "issuer", keyId: "KEY\($0 + 1)", privateKey: $1) })
    }

    func client(
        _ url: String, environment: AppStoreEnvironment = .production, ahead: Double = 0,
        retry: APIRetryPolicy = APIRetryPolicy()
    ) -> AppStoreServerAPI {
        AppStoreServerAPI(
            app: Self.app, environment: environment, credentials: credentials, verifier: verifier, transport: transport,
            clock: clock(ahead: ahead), baseURL: url, retry: retry
        ) { attempt in self.attempted.withLock { $0.append(attempt) } }
    }

    /// Which key signed the token of a request; nil where none of the fixture's did.
    func signer(of request: ScriptedStore.Request) throws -> Int? {
        let jws = Array(request.token.utf8)
        let parts = try #require(CompactJWS(jws[...]))
        let signature = try #require(Base64.decode(parts.signature, .url))
        return try keys.firstIndex { key in
            try key.publicKey().isValid(signature: signature, over: Array(parts.signed))
        }
    }

    /// Header and claims of a request's token.
    static func token(_ request: ScriptedStore.Request) throws -> (header: JSONValue, claims: JSONValue) {
        let jws = Array(request.token.utf8)
        let parts = try #require(CompactJWS(jws[...]))
        return (
            try JSONDocument(#require(Base64.decode(parts.header, .url))).root,
            try JSONDocument(#require(Base64.decode(parts.payload, .url))).root
        )
    }

    /// The error of a call that must not succeed.
    static func error(_ call: () async throws -> Void) async throws -> APIError {
        do {
            try await call()
        } catch let error as APIError {
            return error
        }
        Issue.record("the call succeeded")
        throw CancellationError()
    }
}
