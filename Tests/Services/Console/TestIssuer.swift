import Chassis
import Digests
import Foundation
import Hummingbird
import NIOCore
import OpenIDConnect
import Signatures
import StrictJSON
import Synchronization
import TestSupport
import Testing

@testable import Console

/// An OpenID provider: signs every browser in as the person of its claims. Codes serve once, for the client that proves to have asked.
final class TestIssuer: Sendable {
    /// What the tokens of this provider are like; a test changes what an attacker would.
    struct Behaviour: Sendable {
        var key: IssuerKey
        var keyId = "k1"
        var published: [(id: String, key: IssuerKey)]
        var claims: [String: String?] = [:]
        /// The header's algorithm and what signs instead of the key.
        var algorithm: String?
        var signature: (@Sendable ([UInt8]) throws -> [UInt8])?
        var issuer: String?
        var isDown = false
    }

    private struct State {
        var behaviour: Behaviour
        var codes: [String: [String: String]] = [:]
        var keyRequests = 0
    }

    static let clientId = "console"
    static let secret = "s3cret:with/characters"

    private let state: Mutex<State>
    private let port = Mutex(0)

    private init(_ behaviour: Behaviour) { state = Mutex(State(behaviour: behaviour)) }

    var address: String { "http://127.0.0.1:\(port.withLock { $0 })" }
    var keyRequests: Int { state.withLock { $0.keyRequests } }

    func change(_ body: (inout Behaviour) throws -> Void) rethrows { try state.withLock { try body(&$0.behaviour) } }

    static func with(
        _ key: IssuerKey, roles: [String: Role] = ["support-team": .support, "on-call": .operatorRole],
        nameClaim: String = "email", roleClaim: String = "groups",
        _ body: (TestIssuer, RunningConsole) async throws -> Void
    ) async throws {
        let issuer = TestIssuer(Behaviour(key: key, published: [("k1", key)]))
        let responder = CallbackResponder<BasicRequestContext> { request, _ in try await issuer.answer(request) }
        try await responder.serving(logger: .quiet) { port in
            issuer.port.withLock { $0 = port }
            let provider = Provider(
                issuer: issuer.address,
                client: Client(
                    id: clientId, secret: secret, redirectURI: RunningConsole.origin + "/sign-in/callback",
                    scopes: "openid email"), now: { RunningConsole.now })
            let settings = ProviderSettings(
                provider: provider, nameClaim: nameClaim, roleClaim: roleClaim, roles: roles)
            let outcome: Result<Void, any Error>
            do {
                outcome = .success(
                    try await RunningConsole.with(provider: settings) { console in try await body(issuer, console) })
            } catch {
                outcome = .failure(error)
            }
            try await provider.shutdown()
            try outcome.get()
        }
    }

    /// A person signs in there: the code that the browser goes back with.
    func code(for address: String) throws -> (code: String, state: String) {
        #expect(address.hasPrefix(self.address + "/authorize?"))
        let query = try #require(FormFields.decode(address.split(separator: "?")[1]))
        #expect(query["response_type"] == "code")
        #expect(query["client_id"] == Self.clientId)
        #expect(query["redirect_uri"] == RunningConsole.origin + "/sign-in/callback")
        #expect(query["code_challenge_method"] == "S256")
        #expect(query["scope"] == "openid email")
        let code = UUID().uuidString
        state.withLock { $0.codes[code] = query }
        return (code, try #require(query["state"]))
    }

    private func answer(_ request: Request) async throws -> Response {
        let behaviour = state.withLock { $0.behaviour }
        guard !behaviour.isDown else { return Response(status: .serviceUnavailable) }
        switch request.uri.path {
        case "/.well-known/openid-configuration":
            var json = JSONWriter()
            json.beginObject()
            json.member("issuer", behaviour.issuer ?? address)
            json.member("authorization_endpoint", address + "/authorize")
            json.member("token_endpoint", address + "/token")
            json.member("jwks_uri", address + "/keys")
            json.endObject()
            return Self.response(json.bytes)
        case "/keys":
            state.withLock { $0.keyRequests += 1 }
            let keys = try behaviour.published.map { String(decoding: try $0.key.json(id: $0.id), as: UTF8.self) }
            return Self.response(Array("{\"keys\":[\(keys.joined(separator: ","))]}".utf8))
        case "/token": return try await token(request, behaviour)
        default: return Response(status: .notFound)
        }
    }

    private func token(_ request: Request, _ behaviour: Behaviour) async throws -> Response {
        let body = try await request.body.collect(upTo: 1 << 16)
        let form = FormFields.decode(String(buffer: body)[...]) ?? [:]
        let asked = state.withLock { $0.codes.removeValue(forKey: form["code"] ?? "") }
        let pair = "\(Self.clientId):s3cret%3Awith%2Fcharacters"
        let basic = String(decoding: Base64.encode(Array(pair.utf8), .standard), as: UTF8.self)
        let challenge = IssuerKey.text(SHA256Hash.digest(Array((form["code_verifier"] ?? "").utf8)))
        guard let asked, request.headers[.authorization] == "Basic \(basic)",
            form["grant_type"] == "authorization_code",
            asked["code_challenge"] == challenge, asked["redirect_uri"] == form["redirect_uri"]
        else {
            return Self.response(Array(#"{"error":"invalid_grant"}"#.utf8), status: .badRequest)
        }
        let time = Int(RunningConsole.now.timeIntervalSince1970)
        let claims: [String: String?] = [
            "iss": "\"\(address)\"", "sub": "\"248289761001\"", "aud": "\"\(Self.clientId)\"",
            "exp": "\(time + 300)", "iat": "\(time)", "nonce": "\"\(asked["nonce"] ?? "")\"",
            "email": "\"ann@example.org\"", "email_verified": "true", "groups": #"["staff","on-call","support-team"]"#,
        ].merging(behaviour.claims) { $1 }
        let payload = claims.compactMap { name, value in value.map { "\"\(name)\":\($0)" } }.joined(separator: ",")
        let header = #"{"alg":"\#(behaviour.algorithm ?? behaviour.key.algorithm)","kid":"\#(behaviour.keyId)"}"#
        let signed = [header, "{\(payload)}"].map { IssuerKey.text(Array($0.utf8)) }.joined(separator: ".")
        let signature =
            try behaviour.signature?(Array(signed.utf8)) ?? behaviour.key.signature(over: Array(signed.utf8))
        let token = signed + "." + IssuerKey.text(signature)
        return Self.response(Array(#"{"token_type":"Bearer","access_token":"x","id_token":"\#(token)"}"#.utf8))
    }

    private static func response(_ json: [UInt8], status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json"],
            body: .init(byteBuffer: ByteBuffer(bytes: json)))
    }
}
