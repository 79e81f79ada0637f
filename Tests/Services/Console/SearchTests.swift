import Foundation
import Operations
import Storage
import Testing

@testable import Console

@Suite(.hangLimit) struct SearchTests {
    @Test func `Search leads to the one purchase that has the id, and says why access ended`() async throws {
        try await SampleContents.with { console in
            let cookie = try await console.signedIn(role: "support")
            let found = try await console.get("/search?q=%20\(SampleContents.ended)%20", cookie: cookie)
            let path = try #require(found.header("location"))
            #expect(path == "/purchases/Production/\(SampleContents.ended)")
            let page = try await console.get(path, cookie: cookie)
            #expect(page.text.contains("the customer had switched auto-renew off"))
            #expect(page.text.contains("<dt>paid until</dt>") && page.text.contains("<dd>expired</dd>"))
            #expect(!page.text.contains("<dt>expiresDate</dt>"))
            let account = try await console.get("/search?q=\(SampleContents.account.uppercased())", cookie: cookie)
            #expect(account.header("location") == "/accounts/Production/\(SampleContents.account)")
        }
    }

    @Test func `Search says how to look up an order where it has no keys of Apple's API`() async throws {
        try await RunningConsole.with { console in
            let cookie = try await console.signedIn(role: "support")
            let page = try await console.get("/search?q=MVX4Y6ZTQ1", cookie: cookie)
            #expect(page.text.contains("storekeeper lookup order MVX4Y6ZTQ1"))
        }
    }

    @Test func `Reports are files of comma-separated values that no spreadsheet computes`() async throws {
        try await SampleContents.with { console in
            let cookie = try await console.signedIn(role: "support")
            let scope = FormFields.encode("Production \(SampleContents.app)")
            let file = try await console.get("/insight/win-back.csv?scope=\(scope)", cookie: cookie)
            #expect(file.header("content-type")?.hasPrefix("text/csv") == true)
            #expect(file.text.hasPrefix("runs until,product,purchase,offers,notification\r\n"))
            #expect(file.text.contains(SampleContents.purchase))
            let ends = try await console.get("/insight/ends?scope=\(scope)", cookie: cookie)
            #expect(ends.text.contains("voluntary"))
            #expect("=1+1".csvField == "'=1+1")
            #expect("a,\"b\"".csvField == "\"a,\"\"b\"\"\"")
        }
    }

    /// U+0D4E and others like it join the next character to themselves, to Swift and not to a browser.
    @Test(arguments: ["\u{0D4E}", "\u{111C2}", "\u{11D46}", "\u{0D4E}\u{0D4E}", "\u{600}", "e\u{301}"])
    func `A letter that joins a mark to itself makes no markup of it`(letter: String) async throws {
        try await RunningConsole.with { console in
            let cookie = try await console.signedIn(role: "viewer")
            for mark in ["<", "<\u{301}", "\"", "'\u{301}", "&"] {
                let asked = FormFields.encode("\(letter)\(mark)zq9\(letter)>")
                let page = try await console.get("/search?q=\(asked)", cookie: cookie)
                #expect(page.status == 200)
                // By scalars, as a browser reads them.
                let scalars = page.text.unicodeScalars
                #expect(scalars.firstRange(of: "zq9".unicodeScalars) != nil)
                for raw in ["\(mark)zq9", "zq9\(letter)>"] {
                    #expect(scalars.firstRange(of: raw.unicodeScalars) == nil, "\(raw.debugDescription)")
                }
            }
        }
    }

    @Test func `A link cannot make the command that the page shows run another one`() async throws {
        try await RunningConsole.with { console in
            let cookie = try await console.signedIn(role: "operator")
            let reason = FormFields.encode("x'\u{301}; touch y; '\u{301}")
            let page = try await console.get("/dead-letters/list?reason=\(reason)", cookie: cookie)
            #expect(page.text.contains("--reason &#39;x&#39;\\&#39;&#39;\u{25CC}\u{301}; touch y; "))
        }
    }

    @Test func `Timeline says what access was at Apple's date, though it was over when that was applied (T11)`()
        async throws
    {
        try await RunningConsole.with { console in
            _ = try await console.withOwner { connection in
                try await SampleContents(connection: connection).notification(
                    "SUBSCRIBED", nil, purchase: "2000000000000009", from: -9000, to: -5000, applied: -100)
            }
            let cookie = try await console.signedIn(role: "support")
            let page = try await console.get("/purchases/Production/2000000000000009", cookie: cookie)
            #expect(page.text.contains(#"<span class="quiet">access until "#))
        }
    }
}
