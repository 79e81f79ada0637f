import AppStore
import Foundation
import Signatures
import Synchronization
import TestSupport
import Testing

@testable import SimulatedAppStore

/// F2: over HTTP, because an answer without a body is part of Apple's behavior.
@Suite struct TokenCheckTests {
    @Test func `Token of an accepted key is served`() async throws {
        try await SimulatorFixture.open { fixture in
            let answer = try await fixture.get("v1/transactions/1")
            #expect(answer.errorCode == 4_040_010)
        }
    }

    @Test func `Token with fractions of a second is served, as Apple's Swift library writes them`() async throws {
        try await SimulatorFixture.open { fixture in
            let token = fixture.token.changed { $0.fraction = ".70225" }
            let answer = try await fixture.ask(
                "GET", "v1/transactions/1", authorization: "Bearer \(token.text(now: fixture.now))")
            #expect(answer.errorCode == 4_040_010)
        }
    }

    struct Attempt: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var change: @Sendable (inout FixtureToken) throws -> Void
    }

    static let attempts = [
        Attempt(testDescription: "an unknown key") { $0.keyId = "AAAAAAAAAA" },
        Attempt(testDescription: "another private key under a known id") { $0.key = try .generate() },
        Attempt(testDescription: "another issuer") { $0.issuerId = "00000000-0000-0000-0000-000000000000" },
        Attempt(testDescription: "another audience") { $0.audience = "appstoreconnect-v2" },
        Attempt(testDescription: "another app") { $0.bundleId = "com.example.stranger" },
        Attempt(testDescription: "no app") { $0.bundleId = nil },
        Attempt(testDescription: "expired") {
            $0.issued = -1300
            $0.expires = -1
        },
        Attempt(testDescription: "expires now") { $0.expires = 0 },
        Attempt(testDescription: "lives longer than an hour") { $0.expires = 3601 },
        Attempt(testDescription: "lives longer than an hour, not saying since when") {
            $0.issued = nil
            $0.expires = 3601 + 60
        },
        Attempt(testDescription: "issued in the future") {
            $0.issued = 120
            $0.expires = 600
        },
        Attempt(testDescription: "issued before 1970, to overflow the difference") {
            $0.issued = -9_000_000_000_000_000_000
        },
        Attempt(testDescription: "alg none") { $0.header = #"{"alg":"none","kid":"KEYID","typ":"JWT"}"# },
        Attempt(testDescription: "alg HS256") { $0.header = #"{"alg":"HS256","kid":"KEYID","typ":"JWT"}"# },
        Attempt(testDescription: "no typ") { $0.header = #"{"alg":"ES256","kid":"KEYID"}"# },
        Attempt(testDescription: "two kids") {
            $0.header = #"{"alg":"ES256","kid":"KEYID","kid":"AAAAAAAAAA","typ":"JWT"}"#
        },
        Attempt(testDescription: "a header that is no JSON") { $0.header = "ES256" },
    ]

    @Test(arguments: attempts)
    func `Invalid token is answered 401 without a body`(attempt: Attempt) async throws {
        try await SimulatorFixture.open { fixture in
            let token = try fixture.token.changed(attempt.change)
            let answer = try await fixture.ask(
                "GET", "v1/transactions/1", authorization: "Bearer \(token.text(now: fixture.now))")
            #expect(answer.status == 401)
            #expect(answer.body.isEmpty)
        }
    }

    @Test func `Token may live for an hour and its clock be half a minute ahead`() async throws {
        try await SimulatorFixture.open { fixture in
            let token = fixture.token.changed {
                $0.issued = 30
                $0.expires = 3630
            }
            let answer = try await fixture.ask(
                "GET", "v1/transactions/1", authorization: "Bearer \(token.text(now: fixture.now))")
            #expect(answer.status == 404)
        }
    }

    @Test func `Token without iat, as Apple's library for Python sends it, is accepted`() async throws {
        try await SimulatorFixture.open { fixture in
            let token = fixture.token.changed {
                $0.issued = nil
                $0.expires = 300
            }
            let answer = try await fixture.ask(
                "GET", "v1/transactions/1", authorization: "Bearer \(token.text(now: fixture.now))")
            #expect(answer.status == 404)
        }
    }

    @Test func `Token that is dated by the real or by the simulated time is served, and one of neither is refused`()
        async throws
    {
        let reasons = Reasons()
        try await SimulatorFixture.open(timeOfDay: { SimulatorFixture.beginning }, refused: { reasons.add($0) }) {
            fixture in
            fixture.move(by: 31 * 86_400)
            for date in [SimulatorFixture.beginning, fixture.now] {
                let answer = try await fixture.ask(
                    "GET", "v1/transactions/1", authorization: "Bearer \(fixture.token.text(now: date))")
                #expect(answer.errorCode == 4_040_010)
            }
            #expect(reasons.all.isEmpty)
            let stale = try fixture.token.text(now: SimulatorFixture.beginning.addingTimeInterval(-7200))
            let answer = try await fixture.ask("GET", "v1/transactions/1", authorization: "Bearer \(stale)")
            #expect(answer.status == 401)
            let stranger = try fixture.token.changed { $0.bundleId = "com.example.stranger" }.text(now: fixture.now)
            _ = try await fixture.ask("GET", "v1/transactions/1", authorization: "Bearer \(stranger)")
            #expect(reasons.all.count == 2)
            #expect(reasons.all.first?.contains("iat and exp of the token are not valid at") == true)
            #expect(reasons.all.last?.contains("com.example.stranger, is none of the simulated apps") == true)
        }
    }

    /// The reasons that the simulator gave.
    private final class Reasons: Sendable {
        private let kept = Mutex<[String]>([])

        var all: [String] { kept.withLock { $0 } }

        func add(_ reason: String) { kept.withLock { $0.append(reason) } }
    }

    @Test func `Changed signature, claims under another's signature and other schemes are rejected`() async throws {
        try await SimulatorFixture.open { fixture in
            let good = try fixture.token.text(now: fixture.now)
            let other = try fixture.token.changed { $0.expires = 2400 }.text(now: fixture.now)
            let (mine, another) = (good.split(separator: "."), other.split(separator: "."))
            let flipped = good.dropLast(10) + (good.suffix(10).first == "A" ? "B" : "A") + good.suffix(9)
            let tokens = [
                "Bearer \(flipped)", "Bearer \(mine[0]).\(another[1]).\(mine[2])", "Bearer \(mine[0]).\(mine[1]).",
                "Bearer \(mine[0]).\(mine[1])", "Bearer \(good)=", "Bearer ", "Basic \(good)", good, "Bearer a.b.c",
                "Bearer " + String(repeating: "A", count: 9_000),
            ]
            for token in tokens {
                let answer = try await fixture.ask("GET", "v1/transactions/1", authorization: token)
                #expect(answer.status == 401, "\(token)")
                #expect(answer.body.isEmpty)
            }
            let without = try await fixture.send("GET", "/production/inApps/v1/transactions/1")
            #expect(without.status == 401)
        }
    }

    @Test func `Revoked key is rejected at once, and an added one accepted`() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let files = KeyFiles(directory: directory.url, bundleIds: ["com.example.app"])
        try await SimulatorFixture.open(keyFiles: files) { fixture in
            #expect(try await fixture.get("v1/transactions/1").status == 404)
            #expect(try await fixture.send("POST", "/simulator/keys").status == 200)
            let added = try #require(fixture.keys.ids.first { $0 != fixture.token.keyId })
            #expect(try await fixture.send("DELETE", "/simulator/keys/\(fixture.token.keyId)").status == 200)
            #expect(try await fixture.get("v1/transactions/1").status == 401)

            let pem = try String(contentsOfFile: directory.path("AuthKey_\(added).p8"), encoding: .utf8)
            let issuerId = try #require(fixture.keys[added]).issuerId
            let further = try fixture.token.changed {
                $0.keyId = added
                $0.key = try P256PrivateKey(pem: pem)
                $0.issuerId = issuerId
            }
            let answer = try await fixture.ask(
                "GET", "v1/transactions/1", authorization: "Bearer \(further.text(now: fixture.now))")
            #expect(answer.status == 404)
            #expect(try await fixture.send("DELETE", "/simulator/keys/\(fixture.token.keyId)").status == 404)
        }
    }
}
