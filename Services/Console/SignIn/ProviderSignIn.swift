import Chassis
import Hummingbird
import OpenIDConnect
import Storage

import struct Foundation.Date

/// Signing in by an OpenID provider: the authorization code flow with PKCE.
///
/// Everything that a sign-in needs is made from the secret in a cookie, so that looking at the page stores nothing. The code comes back
/// by a GET from elsewhere, which brings no strict cookie and changes nothing; the page of that address sends the code
/// on as a form of ours, which brings both.
struct ProviderSignIn: Sendable {
    /// A link to the provider.
    struct Link: Sendable {
        let name: String
        let address: String
    }

    /// What the browser comes back with.
    struct Returned: Sendable {
        let name: String
        let code: String
        let state: String
        let issuer: String
    }

    static let cookie = "__Host-storekeeper-sign-in"
    private static let validity = 600.0
    /// A page that is looked at again keeps its cookie, for people with two windows.
    private static let renewal = 300.0

    let console: Console

    /// The link to the provider, and the cookie that goes with it. Nil where no provider is configured.
    func begin(_ request: ConsoleRequest) async throws -> (link: Link, cookie: String?)? {
        guard let settings = console.provider else { return nil }
        let now = console.clock.now()
        let known = request.attempt.flatMap { (0..<Self.renewal).contains(Self.age(of: $0, at: now)) ? $0 : nil }
        let secret = known ?? "\(Int64(now.timeIntervalSince1970)).\(console.newSecret())"
        let address = try await settings.provider.authorizationAddress(console.tokens.attempt(secret))
        let cookie =
            "\(Self.cookie)=\(secret); Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=\(Int(Self.validity))"
        return (Link(name: Self.name(settings.provider), address: address), known == nil ? cookie : nil)
    }

    /// `GET /sign-in/callback`: shows a button, which a script presses.
    func show(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let settings = try settings()
        if let error = request.text("error") {
            // Any sender can make a link to this page: it says nothing in the words of the address.
            console.logger.notice(
                "Provider refused a sign-in; the page says so",
                metadata: [
                    "error": "\(error.prefix(50))",
                    "description": "\((request.text("error_description") ?? "").prefix(200))",
                ])
            throw Fault(
                403, "You are not signed in: \(Self.name(settings.provider)) \(Self.reason(of: error)).",
                "Begin again at /sign-in. If it stays, ask who runs the provider.")
        }
        guard let code = request.text("code"), let state = request.text("state") else { throw Self.unknown }
        let returned = Returned(
            name: Self.name(settings.provider), code: code, state: state, issuer: request.text("iss") ?? "")
        return console.page("sign-in", "Sign in", SignInHandlers.Page(returned: returned), request)
    }

    /// What an error code of OAuth 2.0 (RFC 6749, 4.1.2.1) or OpenID Connect (Core, 3.1.2.6) says.
    private static func reason(of error: String) -> String {
        switch error {
        case "access_denied": "did not allow it, or you declined"
        case "login_required", "interaction_required", "account_selection_required": "needs you to sign in there first"
        case "consent_required": "needs your consent first"
        case "server_error", "temporarily_unavailable": "has an outage; wait a moment"
        case "invalid_request", "invalid_scope", "unauthorized_client", "unsupported_response_type":
            "does not take the console's request: check how the console is registered there"
        default: "refused, for a reason that is in the console's log"
        }
    }

    /// `POST /sign-in/callback`
    func signIn(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let settings = try settings()
        let now = console.clock.now()
        guard let secret = request.attempt, (0..<Self.validity).contains(Self.age(of: secret, at: now)) else {
            throw Self.unknown
        }
        let attempt = try console.tokens.attempt(secret)
        guard Self.isSame(request.form["state"] ?? "", attempt.state), let code = request.form["code"], !code.isEmpty
        else { throw Self.unknown }
        // RFC 9207: the code of another provider must not be sent to this one.
        if let issuer = request.form["iss"], !issuer.isEmpty, issuer != settings.provider.issuer { throw Self.unknown }
        let token: IDToken
        do {
            token = try await settings.provider.token(code: code, attempt)
        } catch let failure as ProviderFailure {
            console.logger.warning(
                "Sign-in by the provider failed; the page says so", metadata: ["error": "\(failure)"])
            throw Fault(403, "You are not signed in. \(failure)", failure.remedy)
        }
        let person = try settings.person(token)
        let session = console.newSecret()
        guard let digest = Authenticator.digest(session), let used = Authenticator.digest(attempt.state) else {
            throw Self.unknown
        }
        let isNew = try await console.database.withConnection { connection in
            try await ConsoleSessions(connection).begin(
                attempt: used, as: ConsoleSessions.Person(name: person.name, role: person.role.rawValue),
                session: digest,
                at: now, until: now.addingTimeInterval(Double(console.session.components.seconds)),
                note: "by \(settings.provider.issuer)")
        }
        guard isNew else { throw Self.unknown }
        var response = SignInHandlers.signedIn(session, for: console.session)
        response.headers.append(
            HTTPField(
                name: .setCookie, value: "\(Self.cookie)=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0"))
        return response
    }

    private static let unknown = Fault(
        403,
        "You are not signed in: this sign-in was not begun in this browser, took more than ten minutes, or was used before.",
        "Begin again at /sign-in.")

    private func settings() throws -> ProviderSettings {
        guard let settings = console.provider else { throw Fault.notFound("No provider signs people in here.") }
        return settings
    }

    private static func name(_ provider: Provider) -> String {
        String(provider.issuer.split(separator: "/").dropFirst().first ?? "the provider")
    }

    /// Age of a cookie's secret in seconds; negative for what is no cookie of ours.
    private static func age(of secret: String, at now: Date) -> Double {
        let parts = secret.split(separator: ".")
        guard parts.count == 2, let begun = Int64(parts[0]), Authenticator.digest(parts[1]) != nil else { return -1 }
        return now.timeIntervalSince1970 - Double(begun)
    }

    /// Takes as long whatever the difference is.
    private static func isSame(_ one: String, _ other: String) -> Bool {
        one.utf8.count == other.utf8.count
            && zip(one.utf8, other.utf8).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
