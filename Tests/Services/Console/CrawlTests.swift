import Foundation
import Storage
import Testing

@testable import Console

@Suite(.hangLimit) struct CrawlTests {
    @Test(arguments: ["viewer", "support", "operator", "admin"])
    func `Every page can be looked at, changes nothing, escapes what came in, and lacks no name`(
        role: String
    ) async throws {
        try await SampleContents.with(refunds: true) { console in
            let cookie = try await console.signedIn(role: role)
            if role != "viewer", role != "support" { try await Self.freeze(console, cookie) }
            let before = try await DatabaseContents(console)
            var seen: Set<String> = []
            var waiting = Self.starts(role)
            while let path = waiting.popLast() {
                guard seen.insert(path).inserted, seen.count < 400 else { continue }
                let answer = try await console.get(path, cookie: cookie)
                #expect([200, 303].contains(answer.status), "\(path.prefix(200)) answered \(answer.status)")
                Self.check(answer, at: path)
                waiting += Self.links(answer.text).filter { !seen.contains($0) }
            }
            #expect(seen.count > 20, "the crawler has to find the pages: \(seen.count)")
            #expect(try await DatabaseContents(console).text == before.text)
            #expect(console.templates.missing.all == [])
            if role == "viewer" {
                let pages = seen.joined(separator: " ")
                #expect(!pages.contains(SampleContents.purchase))
                #expect(!pages.contains(SampleContents.account))
            }
        }
    }

    @Test func `Console shows a viewer no id of a customer on any page`() async throws {
        try await SampleContents.with(refunds: true) { console in
            let cookie = try await console.signedIn(role: "viewer")
            var seen: Set<String> = []
            var waiting = Self.starts("viewer")
            while let path = waiting.popLast() {
                guard seen.insert(path).inserted, seen.count < 400 else { continue }
                let answer = try await console.get(path, cookie: cookie)
                #expect(!answer.text.contains(SampleContents.purchase), "\(path.prefix(100))")
                #expect(!answer.text.contains(SampleContents.account), "\(path.prefix(100))")
                waiting += Self.links(answer.text).filter { !seen.contains($0) }
            }
            #expect(
                try await console.get("/purchases/Production/\(SampleContents.purchase)", cookie: cookie).status == 403)
        }
    }

    private static func freeze(_ console: RunningConsole, _ cookie: String) async throws {
        let page = try await console.get("/dead-letters/list?reason=signature", cookie: cookie)
        let token = try #require(page.field("token"))
        let answer = try await console.post(
            "/dead-letters/selections", cookie: cookie, ["token": token, "reason": "signature"])
        #expect(answer.status == 303)
    }

    private static func starts(_ role: String) -> [String] {
        let hostile = FormFields.encode(String(SampleContents.hostile.prefix(150)))
        let all = [
            "/", "/help", "/search", "/search?q=\(hostile)", "/search?q=nothing", "/search?q=MVX4Y6ZTQ1",
            "/notifications?type=\(hostile)&app=\(hostile)", "/dead-letters", "/dead-letters/list?reason=\(hostile)",
            "/coverage", "/pipeline", "/audit?actor=\(hostile)", "/insight?scope=\(hostile)", "/revenue",
            "/revenue/mrr?by=\(hostile)",
            "/revenue/purchases?from=2025-01-01&product=\(hostile)&after=\(hostile)", "/notifications",
            "/compare?scope=\(hostile)",
            "/revenue/corrections?scope=\(hostile)&after=\(hostile)",
        ]
        guard role != "viewer" else { return all }
        return all + [
            "/search?q=\(SampleContents.purchase)", "/accounts/Production/\(SampleContents.account)",
            "/accounts/Production/00000000-0000-4000-8000-000000000000",
        ] + (role == "support" ? [] : ["/coverage/recover"])
    }

    /// Links of the page, without those to elsewhere in it.
    private static func links(_ text: String) -> [String] {
        text.matches(of: /href="(\/[^"]*)"/).map { match in
            String(match.output.1).replacing("&amp;", with: "&").replacing("&#39;", with: "'")
        }.filter { !$0.hasPrefix("/assets/") || $0.contains("?") }
    }

    private static let marks = [
        ("<script>", "holds markup that came in"), ("<img", "holds markup that came in"),
        ("\u{202E}", "changes the direction of text"), ("\" onmouseover", "holds an attribute that came in"),
        ("\"\u{301}", "ends an attribute early"),
    ]

    private static func check(_ answer: RunningConsole.Answer, at path: String) {
        let place = "\(path.prefix(200))"
        for name in [
            "content-security-policy", "x-content-type-options", "cross-origin-opener-policy",
            "cross-origin-resource-policy", "referrer-policy", "cache-control",
        ] {
            #expect(answer.header(name) != nil, "\(place) lacks \(name)")
        }
        #expect(answer.header("set-cookie") == nil, "\(place)")
        guard answer.header("content-type")?.hasPrefix("text/html") ?? false else { return }
        let text = answer.text
        // By bytes, as a browser reads them: to Swift a mark may be joined to a letter before it.
        let bytes = Data(text.utf8)
        for (mark, meaning) in marks {
            let isThere = bytes.range(of: Data(mark.utf8)) != nil
            #expect(!isThere, "\(place) \(meaning)")
        }
        #expect(!text.contains("style=\""), "\(place) has inline style")
        #expect(text.firstMatch(of: /\{\{[#\/^>]/) == nil, "\(place) shows a template")
        #expect(!text.contains("Optional("), "\(place) shows Swift")
    }
}
