import Foundation
import Storage
import Testing

@testable import Console

@Suite(.hangLimit) struct OfferTests {
    private static let redeemed =
        #"<td class="number">2</td><td class="number">1</td><td class="number">50 %</td>"#

    @Test func `Support sees the rules in force, what was signed, and how much of each offer was redeemed`()
        async throws
    {
        try await SampleContents.with(refunds: true) { console in
            let cookie = try await console.signedIn(role: "support")
            let page = try await console.get("/offers", cookie: cookie)
            #expect(page.status == 200 && page.text.contains("Version 1 of") && page.text.contains("by olga."))
            #expect(page.text.contains("<td>active or lapsed, lapsed for 7 days</td><td>1 in 365 days</td>"))
            #expect(page.text.contains("from 2025-12-01T00:00:00Z") && page.text.contains("a refund within 90 days"))
            #expect(page.text.contains(Self.redeemed))
            #expect(page.text.contains(#"href="/accounts/Production/\#(SampleContents.account)""#))
            #expect(page.text.components(separatedBy: "<td>\(SampleContents.purchase)</td>").count == 2)
            #expect(page.text.contains("offers redeemed --app \(SampleContents.app) --environment Production"))
        }
    }

    @Test func `Viewer sees how much of each offer was redeemed, and no id of a customer`() async throws {
        try await SampleContents.with(refunds: true) { console in
            let cookie = try await console.signedIn(role: "viewer")
            let page = try await console.get("/offers", cookie: cookie)
            #expect(page.status == 200 && page.text.contains(Self.redeemed) && page.text.contains("7e3f…7a7b"))
            #expect(!page.text.contains(SampleContents.account) && !page.text.contains(SampleContents.purchase))
        }
    }

    @Test func `Rules that a newer build set do not end the page`() async throws {
        try await SampleContents.with(refunds: true) { console in
            try await console.withOwner { connection in
                try await connection.run(
                    unsafeScript: "update offer_rule set document = '{\"rules\": [], \"later\": 1}'")
            }
            let cookie = try await console.signedIn(role: "support")
            let page = try await console.get("/offers", cookie: cookie)
            #expect(page.status == 200 && page.text.contains("update the console"))
            try await console.withOwner { try await $0.run(unsafeScript: "delete from offer_rule") }
            let none = try await console.get("/offers", cookie: cookie)
            #expect(none.text.contains("The app has no rules") && !none.text.contains("rules show"))
        }
    }
}
