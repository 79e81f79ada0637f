import AsyncHTTPClient
import HTTPLimits
import Signatures
import StrictJSON

import struct Foundation.Date
import struct Foundation.URL

/// Why a person cannot be signed in by the provider, and what to do.
package struct ProviderFailure: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String
    package let remedy: String

    init(_ description: String, _ remedy: String) {
        self.description = description
        self.remedy = remedy
    }
}

/// This service as the provider knows it.
package struct Client: Sendable {
    package let id: String
    /// Nil: PKCE alone proves that the code is ours.
    package let secret: String?
    package let redirectURI: String
    package let scopes: String

    package init(id: String, secret: String?, redirectURI: String, scopes: String) {
        self.id = id
        self.secret = secret
        self.redirectURI = redirectURI
        self.scopes = scopes
    }
}

/// An OpenID provider: its addresses and keys are fetched when they are needed, kept, and fetched again when they are old
/// or a token names a key that is not among them.
package actor Provider {
    private struct Metadata {
        let authorization: String
        let token: String
        let keys: String
        let takesBasic: Bool
        let fetchedAt: Date
    }

    private static let kept = 3600.0
    private static let pause = 5.0
    private static let longest = 512 << 10

    package nonisolated let issuer: String
    private let client: Client
    private let rules: IDTokenRules
    private let timeout: Duration
    private let now: @Sendable () -> Date
    private let http: HTTPClient
    private var metadata: Metadata?
    private var keys: KeySet?
    /// People may ask for the page as often as they like; the provider is asked at intervals.
    private var failure: (at: Date, ProviderFailure)?

    /// - Parameters:
    ///   - issuer: as the provider's tokens name it.
    ///   - timeout: until an answer must have ended.
    package init(
        issuer: String, client: Client, timeout: Duration = .seconds(10), now: @escaping @Sendable () -> Date
    ) {
        self.issuer = issuer
        self.client = client
        self.timeout = timeout
        self.now = now
        rules = IDTokenRules(issuer: issuer, clientId: client.id)
        // A redirect could carry the client's secret elsewhere.
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.connectionPool.idleTimeout = .seconds(20)
        http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Closes the connections. To be called once before the process ends.
    package func shutdown() async throws { try await http.shutdown() }

    /// Where a person's browser begins to sign in.
    package func authorizationAddress(_ attempt: Attempt) async throws -> String {
        let metadata = try await current()
        return metadata.authorization + (metadata.authorization.contains("?") ? "&" : "?")
            + Self.form([
                ("response_type", "code"), ("client_id", client.id), ("redirect_uri", client.redirectURI),
                ("scope", client.scopes), ("state", attempt.state), ("nonce", attempt.nonce),
                ("code_challenge", attempt.challenge), ("code_challenge_method", "S256"),
            ])
    }

    /// Exchanges the code that the browser brought for the person's proven token.
    package func token(code: String, _ attempt: Attempt) async throws -> IDToken {
        let metadata = try await current()
        var request = HTTPClientRequest(url: metadata.token)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
        var fields = [
            ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", client.redirectURI),
            ("code_verifier", attempt.verifier),
        ]
        if let secret = client.secret, metadata.takesBasic {
            let pair = Array("\(Self.escaped(client.id)):\(Self.escaped(secret))".utf8)
            request.headers.add(
                name: "authorization", value: "Basic \(String(decoding: Base64.encode(pair, .standard), as: UTF8.self))"
            )
        } else {
            fields += [("client_id", client.id)] + (client.secret.map { [("client_secret", $0)] } ?? [])
        }
        request.body = .bytes(Array(Self.form(fields).utf8))
        let answer = try await json(request, "the code of this sign-in")
        guard let text = answer["id_token"]?.string else {
            throw ProviderFailure(
                "\(issuer) gave no ID token.", "The scopes of the console must include openid.")
        }
        return try await proven(text, attempt, metadata)
    }

    private func proven(_ text: String, _ attempt: Attempt, _ metadata: Metadata) async throws -> IDToken {
        do throws(IDTokenFault) {
            if let keys { return try rules.token(text, keys: keys, nonce: attempt.nonce, at: now()) }
        } catch {
            // The provider may have a new key; anything else stays wrong.
            guard case .unknownKey = error else { throw Self.refused(error) }
        }
        let fetched = try await fetchedKeys(metadata)
        keys = fetched
        do throws(IDTokenFault) {
            return try rules.token(text, keys: fetched, nonce: attempt.nonce, at: now())
        } catch {
            throw Self.refused(error)
        }
    }

    private static func refused(_ fault: IDTokenFault) -> ProviderFailure {
        ProviderFailure(
            "The ID token is refused: \(fault).",
            "Sign in again. If it stays, compare the console's issuer and client id with the provider's.")
    }

    private func fetchedKeys(_ metadata: Metadata) async throws -> KeySet {
        guard let keys = KeySet(try await json(HTTPClientRequest(url: metadata.keys), "its keys")) else {
            throw ProviderFailure("\(issuer) publishes no set of keys.", "Check the issuer of the console.")
        }
        return keys
    }

    private func current() async throws -> Metadata {
        let time = now()
        if let metadata, time.timeIntervalSince(metadata.fetchedAt) < Self.kept { return metadata }
        if let failure, time.timeIntervalSince(failure.at) < Self.pause { throw failure.1 }
        do {
            let address =
                (issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer) + "/.well-known/openid-configuration"
            let read = try read(try await json(HTTPClientRequest(url: address), "its configuration"), at: time)
            metadata = read
            keys = try await fetchedKeys(read)
            failure = nil
            return read
        } catch let problem as ProviderFailure {
            failure = (time, problem)
            throw problem
        }
    }

    private func read(_ json: JSONValue, at time: Date) throws -> Metadata {
        guard json["issuer"]?.string == issuer else {
            throw ProviderFailure(
                "The configuration at \(issuer) is of the issuer “\(json["issuer"]?.string ?? "")”.",
                "Configure the issuer exactly as the provider writes it, with or without a slash at its end.")
        }
        func address(_ name: String) throws -> String {
            guard let text = json[name]?.string, ProviderAddress.isSafe(text) else {
                throw ProviderFailure("\(issuer) names no https address as \(name).", "Check the provider.")
            }
            return text
        }
        let methods = json["token_endpoint_auth_methods_supported"]?.elements.compactMap(\.string)
        return Metadata(
            authorization: try address("authorization_endpoint"), token: try address("token_endpoint"),
            keys: try address("jwks_uri"), takesBasic: methods?.contains("client_secret_basic") ?? true, fetchedAt: time
        )
    }

    private func json(_ request: HTTPClientRequest, _ what: String) async throws -> JSONValue {
        var request = request
        request.headers.add(name: "accept", value: "application/json")
        let (message, http, timeout) = (request, self.http, self.timeout)
        let answer: (status: Int, bytes: [UInt8])
        do {
            answer = try await withTimeLimit(timeout) {
                try await Self.answer(to: message, over: http, within: timeout)
            }
        } catch {
            let reason = (error as? HTTPClientError)?.shortDescription ?? "the connection failed"
            throw ProviderFailure(
                "\(issuer) could not be asked for \(what): \(reason).",
                "Try again; check that the console reaches the provider. A link of the command line signs in without it."
            )
        }
        let document = try? JSONDocument(answer.bytes)
        guard answer.status == 200, let root = document?.root, root.kind == .object else {
            let code = document?.root["error"]?.string.map { " (\($0.prefix(100)))" } ?? ""
            throw ProviderFailure(
                "\(issuer) answered \(answer.status)\(code) when asked for \(what).",
                "Sign in again. If it stays, compare the client's id, secret and redirect address with the provider's.")
        }
        return root
    }

    private static func answer(
        to request: HTTPClientRequest, over http: HTTPClient, within timeout: Duration
    ) async throws -> (status: Int, bytes: [UInt8]) {
        let response = try await http.execute(request, timeout: .nanoseconds(Int64(timeout / .nanoseconds(1))))
        let buffer = try await response.body.collect(upTo: longest)
        return (Int(response.status.code), Array(buffer.readableBytesView))
    }

    private static func form(_ fields: [(String, String)]) -> String {
        fields.map { "\($0)=\(escaped($1))" }.joined(separator: "&")
    }

    private static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }
}
