import Digests
import Foundation
import OpenIDConnect
import Storage
import TestSupport
import Testing

@testable import Console

@Suite(.hangLimit) struct ProviderSignInTests {
    /// A browser on its way through a sign-in.
    private struct Browser {
        let console: RunningConsole
        let cookie: String
        let address: String

        init(_ console: RunningConsole) async throws {
            self.console = console
            let page = try await console.get("/sign-in")
            #expect(page.status == 200)
            let set = try #require(page.header("set-cookie"))
            for word in ["__Host-storekeeper-sign-in=", "Path=/", "Secure", "HttpOnly", "SameSite=Strict"] {
                #expect(set.contains(word))
            }
            cookie = String(set.split(separator: ";")[0])
            let link = try #require(page.text.firstMatch(of: /href="(http[^"]*)"/)).output.1
            address = String(link).replacing("&amp;", with: "&")
        }

        /// Comes back with a code: the page, and what its form answers.
        func comeBack(_ code: String, _ state: String, cookie: String? = nil, issuer: String = "") async throws
            -> RunningConsole.Answer
        {
            let query = FormFields.query([("code", code), ("state", state), ("iss", issuer.isEmpty ? nil : issuer)])
            let page = try await console.get("/sign-in/callback" + query)
            #expect(page.status == 200)
            #expect(page.header("set-cookie") == nil)
            let fields = ["code", "state", "iss"].reduce(into: [:]) { $0[$1] = page.field($1) }
            return try await console.send(
                "POST", "/sign-in/callback",
                headers: ["Sec-Fetch-Site": "same-origin", "Cookie": cookie ?? self.cookie],
                body: RunningConsole.form(fields))
        }
    }

    @Test(arguments: ["ES256", "RS256"])
    func `A person whom the provider signs in has the highest role of the claim, and the audit log says so`(
        algorithm: String
    ) async throws {
        try await TestIssuer.with(try algorithm == "ES256" ? .makeP256() : .makeRSA()) { issuer, console in
            let before = try await DatabaseContents(console)
            let browser = try await Browser(console)
            let (code, state) = try issuer.code(for: browser.address)
            #expect(try await DatabaseContents(console).text == before.text, "looking at the page stores nothing")
            let answer = try await browser.comeBack(code, state, issuer: issuer.address)
            #expect(answer.status == 303)
            #expect(answer.header("location") == "/")
            let cookies = answer.headers.filter { $0.0 == "set-cookie" }.map(\.1)
            let session = try #require(cookies.first { $0.hasPrefix("__Host-storekeeper=") })
            #expect(cookies.contains { $0.hasPrefix("__Host-storekeeper-sign-in=;") })
            for word in ["Secure", "HttpOnly", "SameSite=Strict"] { #expect(session.contains(word)) }
            let value = session.split(separator: ";")[0].split(separator: "=")[1]
            let page = try await console.get("/audit", cookie: String(value))
            #expect(page.text.contains("ann@example.org"))
            #expect(page.text.contains("console sign-in"))
            #expect(page.text.contains("operator"))
            let contents = try await DatabaseContents(console).text
            #expect(!contents.contains(value))
        }
    }

    @Test func `An address of a provider is encrypted or of this machine, at a port that there is`() {
        for text in ["https://idp.example", "https://idp.example:65535/a", "http://127.0.0.1:8080"] {
            #expect(ProviderAddress.isSafe(text), "\(text)")
        }
        for text in ["http://idp.example", "https://idp.example:65536", "https://me@idp.example", "idp.example"] {
            #expect(!ProviderAddress.isSafe(text), "\(text)")
        }
    }

    @Test func `An answer of the provider that begins and never ends is none`() async throws {
        let server = try StallingServer()
        let provider = Provider(
            issuer: "http://127.0.0.1:\(server.port)",
            client: Client(
                id: TestIssuer.clientId, secret: nil, redirectURI: RunningConsole.origin + "/sign-in/callback",
                scopes: "openid"),
            timeout: .milliseconds(200), now: { RunningConsole.now })
        let attempt = Attempt(secret: "secret", key: MessageAuthentication(key: [1]))
        let failure = await #expect(throws: ProviderFailure.self) {
            _ = try await provider.authorizationAddress(attempt)
        }
        #expect(failure?.description.contains("could not be asked for its configuration") == true)
        try await provider.shutdown()
        withExtendedLifetime(server) {}
    }

    @Test func `ProviderSignIn serves an attempt once, even with a new code`() async throws {
        try await TestIssuer.with(try .makeP256()) { issuer, console in
            let browser = try await Browser(console)
            let (code, state) = try issuer.code(for: browser.address)
            #expect(try await browser.comeBack(code, state).status == 303)
            let (second, _) = try issuer.code(for: browser.address)
            try Self.expectRefused(try await browser.comeBack(second, state), "used before")
        }
    }

    @Test func `ProviderSignIn ends only in the browser that began it`() async throws {
        try await TestIssuer.with(try .makeP256()) { issuer, console in
            let (mine, other) = (try await Browser(console), try await Browser(console))
            let (code, state) = try issuer.code(for: mine.address)
            for cookie in [other.cookie, "x=y", "__Host-storekeeper-sign-in=1.\(String(repeating: "A", count: 43))"] {
                try Self.expectRefused(
                    try await mine.comeBack(code, state, cookie: cookie), "not begun in this browser")
            }
            let changed = (state.first == "x" ? "y" : "x") + state.dropFirst()
            try Self.expectRefused(try await mine.comeBack(code, changed), "not begun in this browser")
            try Self.expectRefused(
                try await mine.comeBack(code, state, issuer: "https://other.example"), "not begun in this browser")
            // The code itself is still good.
            #expect(try await mine.comeBack(code, state).status == 303)
        }
    }

    @Test func `ProviderSignIn ignores a form of another site`() async throws {
        try await TestIssuer.with(try .makeP256()) { issuer, console in
            let browser = try await Browser(console)
            let (code, state) = try issuer.code(for: browser.address)
            let answer = try await console.send(
                "POST", "/sign-in/callback", headers: ["Sec-Fetch-Site": "cross-site", "Cookie": browser.cookie],
                body: RunningConsole.form(["code": code, "state": state]))
            #expect(answer.status == 403)
        }
    }

    /// What an attacker, or a provider that is configured wrongly, may send instead of the right token.
    enum Attack: String, CaseIterable {
        case wrongNonce, wrongAudience, furtherAudience, otherParty, wrongIssuer, expired, old, future, noSubject
        case algorithmNone, secretIsThePublicKey, unknownKey, otherKey, noName, unverifiedEmail, noRole
    }

    @Test(arguments: Attack.allCases)
    func `A token that is not for this sign-in signs no person in, and the page says what to do`(
        attack: Attack
    ) async throws {
        let key = try IssuerKey.makeRSA()
        let stranger = try IssuerKey.makeRSA()
        let time = Int(RunningConsole.now.timeIntervalSince1970)
        let secret = MessageAuthentication(key: try key.publicBytes)
        try await TestIssuer.with(key) { issuer, console in
            var words = ""
            issuer.change { behaviour in
                switch attack {
                case .wrongNonce: (behaviour.claims["nonce"], words) = ("\"other\"", "“nonce”")
                case .wrongAudience: (behaviour.claims["aud"], words) = ("\"other\"", "“aud”")
                case .furtherAudience: (behaviour.claims["aud"], words) = (#"["console","other"]"#, "“azp”")
                case .otherParty: (behaviour.claims["azp"], words) = ("\"other\"", "“azp”")
                case .wrongIssuer: (behaviour.claims["iss"], words) = ("\"https://other.example\"", "“iss”")
                case .expired: (behaviour.claims["exp"], words) = ("\(time - 61)", "expired")
                case .old: (behaviour.claims["iat"], words) = ("\(time - 601)", "expired")
                case .future: (behaviour.claims["iat"], words) = ("\(time + 61)", "clocks")
                case .noSubject: (behaviour.claims["sub"], words) = (.some(nil), "“sub”")
                case .algorithmNone:
                    (behaviour.algorithm, behaviour.signature, words) = ("none", { _ in [0] }, "“none”")
                case .secretIsThePublicKey:
                    behaviour.algorithm = "HS256"
                    behaviour.signature = { secret.code(of: [$0[...]]) }
                    words = "“HS256”"
                case .unknownKey: (behaviour.keyId, behaviour.key, words) = ("k2", stranger, "no key “k2”")
                case .otherKey: (behaviour.key, words) = (stranger, "signature is wrong")
                case .noName: (behaviour.claims["email"], words) = (.some(nil), "STOREKEEPER_CONSOLE_OIDC_NAME_CLAIM")
                case .unverifiedEmail: (behaviour.claims["email_verified"], words) = ("false", "Verify it there")
                case .noRole: (behaviour.claims["groups"], words) = (#"["staff"]"#, "has no role")
                }
            }
            let browser = try await Browser(console)
            let (code, state) = try issuer.code(for: browser.address)
            try Self.expectRefused(try await browser.comeBack(code, state), words)
            let sessions = try await console.withOwner { connection in
                try await OperatorActionStore(connection).newest(10).filter { $0.operation == "console sign-in" }
            }
            #expect(sessions.isEmpty)
        }
    }

    /// Where the email address decides: the name, the role, or both, or a role that everyone has.
    static let emailClaims: [(name: String, role: String, roles: [String: Role])] = [
        ("email", "groups", ["on-call": .operatorRole]), ("sub", "email", ["ann@example.org": .admin]),
        ("email", "email", ["ann@example.org": .admin]), ("email", "groups", ["*": .viewer]),
        ("profile.email", "groups", ["on-call": .operatorRole]), ("sub", "https://idp.example/email", ["x": .admin]),
        ("sub", "emails", ["x": .admin]),
    ]

    @Test(arguments: emailClaims)
    func `An email address decides nothing unless email_verified is the JSON value true`(
        name: String, role: String, roles: [String: Role]
    ) async throws {
        try await TestIssuer.with(try .makeP256(), roles: roles, nameClaim: name, roleClaim: role) { issuer, console in
            func signIn(_ verified: String?) async throws -> RunningConsole.Answer {
                issuer.change { behaviour in
                    behaviour.claims["email_verified"] = .some(verified)
                    behaviour.claims["https://idp.example/email"] = "\"x\""
                    behaviour.claims["emails"] = #"["x"]"#
                    let beside = verified.map { #","email_verified":\#($0)"# } ?? ""
                    behaviour.claims["profile"] = #"{"email":"ann@example.org"\#(beside)}"#
                }
                let browser = try await Browser(console)
                let (code, state) = try issuer.code(for: browser.address)
                return try await browser.comeBack(code, state)
            }
            for verified in [
                "false", "\"false\"", "\"true\"", "\"True\"", "\"\"", "0", "1", "1.0", "null", "[true]", #"{"a":true}"#,
                nil,
            ] {
                try Self.expectRefused(try await signIn(verified), "Verify it there")
            }
            #expect(try await signIn("true").status == 303)
        }
    }

    @Test func `A claim that only looks like another, as by the kelvin sign for K, has no role of it`() async throws {
        try await TestIssuer.with(try .makeP256(), roles: ["Kate": .admin], nameClaim: "sub", roleClaim: "sub") {
            issuer, console in
            func signIn(_ name: String) async throws -> RunningConsole.Answer {
                issuer.change { $0.claims["sub"] = "\"\(name)\"" }
                let browser = try await Browser(console)
                let (code, state) = try issuer.code(for: browser.address)
                return try await browser.comeBack(code, state)
            }
            try Self.expectRefused(try await signIn("\u{212A}ate"), "has no role")
            #expect(try await signIn("Kate").status == 303)
        }
    }

    @Test
    func `A new key of the provider is fetched when a token names it, and the old one is refused once it is gone`()
        async throws
    {
        let (old, new) = (try IssuerKey.makeP256(), try IssuerKey.makeRSA())
        try await TestIssuer.with(old) { issuer, console in
            func signIn() async throws -> RunningConsole.Answer {
                let browser = try await Browser(console)
                let (code, state) = try issuer.code(for: browser.address)
                return try await browser.comeBack(code, state)
            }
            #expect(try await signIn().status == 303)
            #expect(try await signIn().status == 303)
            #expect(issuer.keyRequests == 1, "keys are kept")
            issuer.change { behaviour in
                (behaviour.key, behaviour.keyId, behaviour.published) = (new, "k2", [("k2", new)])
            }
            #expect(try await signIn().status == 303)
            #expect(issuer.keyRequests == 2)
            issuer.change { behaviour in (behaviour.key, behaviour.keyId) = (old, "k1") }
            try Self.expectRefused(try await signIn(), "no key “k1”")
        }
    }

    @Test func `ProviderSignIn rejects a code that the provider does not know`() async throws {
        try await TestIssuer.with(try .makeP256()) { issuer, console in
            let browser = try await Browser(console)
            let (_, state) = try issuer.code(for: browser.address)
            try Self.expectRefused(try await browser.comeBack("made-up", state), "invalid_grant")
        }
    }

    @Test func `ProviderSignIn says why a provider refuses, in no words of the address`() async throws {
        try await TestIssuer.with(try .makeP256()) { _, console in
            for (code, sentence) in [
                ("access_denied", "did not allow it, or you declined"), ("temporarily_unavailable", "has an outage"),
                ("Call+0123", "for a reason that is in the console"),
            ] {
                let answer = try await console.get(
                    "/sign-in/callback?error=\(code)&error_description=Send+your+password")
                #expect(answer.status == 403)
                #expect(answer.text.contains(sentence))
                #expect(!answer.text.contains("password") && !answer.text.contains("0123"))
            }
        }
    }

    @Test func `ProviderSignIn works without the provider, says so, and offers the link of the command line`()
        async throws
    {
        try await TestIssuer.with(try .makeP256()) { issuer, console in
            issuer.change { $0.isDown = true }
            let page = try await console.get("/sign-in")
            #expect(page.status == 200)
            #expect(page.text.contains("answered 503"))
            #expect(page.text.contains("storekeeper console login"))
        }
        try await TestIssuer.with(try .makeP256()) { issuer, console in
            issuer.change { $0.issuer = "https://other.example" }
            let page = try await console.get("/sign-in")
            #expect(page.text.contains("https://other.example"))
            #expect(page.text.contains("exactly as the provider writes it"))
        }
    }

    @Test func `Without a provider its address is no page, and the sign-in page sets no cookie`() async throws {
        try await RunningConsole.with { console in
            let page = try await console.get("/sign-in")
            #expect(page.header("set-cookie") == nil)
            let other = try await console.get("/sign-in/callback?code=x&state=y")
            #expect(other.status == 404)
        }
    }

    @Test func `Console lets a person who is signed in use a new link`() async throws {
        try await RunningConsole.with { console in
            let cookie = try await console.signedIn(role: "viewer")
            let link = try await console.link(role: "operator")
            #expect(try await console.post("/sign-in", cookie: cookie, ["link": link]).status == 303)
        }
    }

    @Test func `A key of fewer than 2048 bits is no key`() async throws {
        try await TestIssuer.with(try .makeRSA(bits: 1024)) { issuer, console in
            let browser = try await Browser(console)
            let (code, state) = try issuer.code(for: browser.address)
            try Self.expectRefused(try await browser.comeBack(code, state), "no key “k1”")
        }
    }

    private static func expectRefused(
        _ answer: RunningConsole.Answer, _ words: String, at location: SourceLocation = #_sourceLocation
    ) throws {
        #expect(answer.status == 403, sourceLocation: location)
        #expect(answer.header("set-cookie") == nil, sourceLocation: location)
        #expect(answer.text.contains("You are not signed in"), sourceLocation: location)
        #expect(answer.text.contains(words), sourceLocation: location)
    }
}
