import Chassis
import Foundation
import Hummingbird
import Storage
import TestSupport
import Testing

@testable import Console

@Suite(.hangLimit) struct SignInTests {
    @Test func `Console sends people who are not signed in to the sign-in page`() async throws {
        try await RunningConsole.with { console in
            for path in ["/", "/search?q=1", "/audit", "/purchases/Production/1", "/insight/ends.csv"] {
                let answer = try await console.get(path)
                #expect(answer.status == 303)
                #expect(answer.header("location") == "/sign-in")
            }
            let page = try await console.get("/sign-in")
            #expect(page.status == 200)
            #expect(page.text.contains("storekeeper console login"))
            #expect(page.text.contains("Storekeeper \(BuildInformation.version) "))
        }
    }

    @Test func `Console accepts a sign-in link once`() async throws {
        try await RunningConsole.with { console in
            let link = try await console.link(role: "support")
            let page = try await console.get("/sign-in?link=\(link)")
            #expect(page.field("link") == link)
            // Looking at it again uses nothing up.
            #expect(try await console.get("/sign-in?link=\(link)").status == 200)
            let first = try await console.post("/sign-in", cookie: nil, ["link": link])
            #expect(first.status == 303)
            let cookie = try #require(first.header("set-cookie"))
            #expect(cookie.hasPrefix("__Host-storekeeper="))
            for word in ["Path=/", "Secure", "HttpOnly", "SameSite=Strict"] { #expect(cookie.contains(word)) }
            let second = try await console.post("/sign-in", cookie: nil, ["link": link])
            #expect(second.status == 403)
            #expect(second.header("set-cookie") == nil)
            #expect(second.text.contains("used before"))
        }
    }

    @Test func `Console rejects a sign-in link after five minutes`() async throws {
        try await RunningConsole.with { console in
            let link = try await console.link(role: "admin", madeAt: RunningConsole.now.addingTimeInterval(-301))
            #expect(try await console.post("/sign-in", cookie: nil, ["link": link]).status == 403)
        }
    }

    @Test func `Neither the secret of a link nor that of a session is stored`() async throws {
        try await RunningConsole.with { console in
            let link = try await console.link(role: "admin")
            let answer = try await console.post("/sign-in", cookie: nil, ["link": link])
            let cookie = try #require(answer.header("set-cookie")).split(separator: ";")[0].split(separator: "=")[1]
            let dump = try await DatabaseContents(console).text
            #expect(!dump.contains(link))
            #expect(!dump.contains(cookie))
        }
    }

    @Test func `An admin ends all sessions of a person, with their unused links`() async throws {
        try await RunningConsole.with { console in
            let admin = try await console.signedIn(as: "ada", role: "admin")
            let (first, second) = (
                try await console.signedIn(as: "bob", role: "support"),
                try await console.signedIn(as: "bob", role: "viewer")
            )
            let carol = try await console.signedIn(as: "carol", role: "viewer")
            for cookie in [first, second, carol] {
                #expect(try await console.get("/sessions", cookie: cookie).status == 403)
            }
            let page = try await console.get("/sessions", cookie: admin)
            let token = try #require(page.field("token"))
            #expect(page.status == 200 && page.text.contains("End the sessions of bob"))
            let fields = ["token": token, "name": "bob", "reason": "left the company"]
            #expect(
                try await console.post("/sessions/end", cookie: admin, fields.merging(["reason": ""]) { $1 }).status
                    == 422)
            #expect(try await console.get("/", cookie: first).status == 200)
            #expect(try await console.post("/sessions/end", cookie: admin, fields).status == 303)
            for cookie in [first, second] { #expect(try await console.get("/", cookie: cookie).status == 303) }
            for cookie in [admin, carol] { #expect(try await console.get("/", cookie: cookie).status == 200) }
            #expect(try await console.post("/sessions/end", cookie: admin, fields).status == 404)
            let action = try await console.withOwner { try await OperatorActionStore($0).newest(1) }.first
            #expect(action?.actor == "ada" && action?.operation == "console end" && action?.subject == "bob")
            #expect(action?.reason == "left the company")
        }
    }

    @Test func `Signing out ends the session for good`() async throws {
        try await RunningConsole.with { console in
            let cookie = try await console.signedIn(role: "viewer")
            let token = try #require(try await console.get("/", cookie: cookie).field("token"))
            #expect(try await console.post("/sign-out", cookie: cookie, ["token": token]).status == 303)
            #expect(try await console.get("/", cookie: cookie).status == 303)
        }
    }

    @Test func `Console rejects a made-up session`() async throws {
        try await RunningConsole.with { console in
            for cookie in ["", "x", String(repeating: "A", count: 43), "'; drop table console_session; --"] {
                let page = try await console.get("/", cookie: cookie)
                #expect(page.status == 303)
            }
        }
    }

    @Test func `A cookie hides none behind it, and one that is there twice is none`() {
        func cookie(_ text: String) -> String? {
            Authenticator.cookie(Authenticator.cookie, in: [.cookie: text])
        }
        #expect(cookie("x=1; __Host-storekeeper=s") == "s")
        #expect(cookie("x=\u{0D4E}; __Host-storekeeper=s") == "s")
        #expect(cookie("__Host-storekeeper=s; x=\u{0D4E}; __Host-storekeeper=t") == nil)
        #expect(cookie("x=1") == nil)
    }

    @Test func `Console signs people in by header only where a trusted proxy sends it, and only people with a role`()
        async throws
    {
        try await RunningConsole.with { console in
            let page = try await console.send("GET", "/", headers: ["X-Forwarded-User": "ann"])
            #expect(page.status == 303)
        }
        try await RunningConsole.with(proxies: ["127.0.0.1"]) { console in
            let page = try await console.send("GET", "/audit", headers: ["X-Forwarded-User": "ann"])
            #expect(page.status == 200)
            #expect(page.text.contains("operator"))
            #expect(try await console.send("GET", "/", headers: ["X-Forwarded-User": "eve"]).status == 303)
            let token = try #require(
                try await console.send(
                    "GET", "/dead-letters/list", headers: ["X-Forwarded-User": "ann"]
                ).field("token"))
            let frozen = try await console.send(
                "POST", "/dead-letters/selections",
                headers: ["X-Forwarded-User": "ann", "Sec-Fetch-Site": "same-origin"], body: "token=\(token)")
            #expect(frozen.status == 303)
        }
    }

    @Test func `A form of a person whom a proxy signed in is taken for two session lengths at most`() async throws {
        try await RunningConsole.with { console in
            let pool = ConnectionPool([TestDatabase.connection(console.database)])
            let tokens = FormTokens(
                database: pool, session: .seconds(3600), isRead: Health(instant: { .now }).readinessCheck("secret"),
                logger: Logger(label: "test"))
            try await tokens.read()
            let ann = Identity(name: "ann", role: .operatorRole, session: nil)
            let token = tokens.token(of: ann, at: RunningConsole.now)
            func isValid(after seconds: Double) -> Bool {
                tokens.isValid(token, of: ann, at: RunningConsole.now.addingTimeInterval(seconds))
            }
            #expect(isValid(after: 0) && isValid(after: 3600) && !isValid(after: 7200))
            let bob = Identity(name: "bob", role: .operatorRole, session: nil)
            #expect(!tokens.isValid(token, of: bob, at: RunningConsole.now))
            await pool.close()
        }
    }
}
