import Foundation
import Storage
import TestSupport
import Testing

@testable import Console

@Suite(.hangLimit) struct CompareTests {
    private static func cell(_ page: String) throws -> String {
        let link = try #require(page.firstMatch(of: /href="(\/compare\/[0-9a-f-]+\?cause=unexplained)">150</))
        return String(link.output.1)
    }

    @Test
    func `Each cell leads to its differences, page by page, and each difference to its purchase and notification`()
        async throws
    {
        try await SampleContents.with { console in
            let cookie = try await console.signedIn(role: "support")
            let page = try await console.get("/compare?scope=Production+com.example.app", cookie: cookie)
            #expect(page.status == 200 && page.text.contains("Other owner") && page.text.contains("Unexplained"))
            #expect(!page.text.contains("Upgrade"), "a cause that does not occur has no row")
            let address = try Self.cell(page.text)
            let first = try await console.get(address, cookie: cookie)
            #expect(first.text.contains("customer-0<") && first.text.contains("customer-99<"))
            #expect(first.text.contains(" --source revenueCat --cause unexplained<"), "the command lists the same")
            #expect(!first.text.contains("customer-100<"))
            let next = try #require(first.text.firstMatch(of: /href="([^"]+)">Further/))
            let second = try await console.get(String(next.output.1).replacing("&amp;", with: "&"), cookie: cookie)
            #expect(second.text.contains("customer-100<") && second.text.contains("customer-149<"))
            #expect(!second.text.contains("Further"))
            let other = try await console.get(address.replacing("unexplained", with: "otherOwner"), cookie: cookie)
            #expect(other.text.contains("/purchases/Production/\(SampleContents.purchase)"))
            #expect(other.text.contains("/accounts/Production/\(SampleContents.account)"))
            #expect(other.text.contains("/notifications/") && other.text.contains("not in the file"))
            let nothing = try await console.get("/compare/\(UUID().uuidString)", cookie: cookie)
            #expect(nothing.status == 404 && nothing.text.contains("90 days"))
        }
    }

    @Test func `The command of the report names the kind of file where several were compared`() async throws {
        try await SampleContents.with { console in
            let cookie = try await console.signedIn(role: "support")
            let address = "/compare?scope=Production+com.example.app"
            let command = "storekeeper compare report --app com.example.app --environment Production"
            #expect(try await console.get(address, cookie: cookie).text.contains("\(command)</code>"))
            let connection = TestDatabase.connection(console.database)
            let now = RunningConsole.now
            let other = Comparison(
                id: UUID(), environment: .production, bundleId: SampleContents.app, source: "adapty",
                takenAt: now.addingTimeInterval(-3600), startedAt: now.addingTimeInterval(-60))
            let store = ComparisonStore(connection)
            try await store.begin(
                other,
                audit: OperatorAction(
                    actedAt: now, actor: "olga", operation: "compare", subject: "events.csv", reason: nil))
            try await store.finish(other, at: now)
            await connection.close()
            let page = try await console.get(address, cookie: cookie).text
            for source in ["adapty", "revenueCat"] { #expect(page.contains("\(command) --source \(source)</code>")) }
        }
    }

    @Test func `A viewer sees the numbers, and no id of a customer`() async throws {
        try await SampleContents.with { console in
            let cookie = try await console.signedIn(role: "viewer")
            let page = try await console.get("/compare?scope=Production+com.example.app", cookie: cookie)
            let address = try Self.cell(page.text)
            let other = try await console.get(address.replacing("unexplained", with: "otherOwner"), cookie: cookie)
            #expect(other.status == 200 && other.text.contains("7e3f…7a7b") && other.text.contains("2000…0001"))
            #expect(!other.text.contains(SampleContents.account) && !other.text.contains(SampleContents.purchase))
        }
    }
}
