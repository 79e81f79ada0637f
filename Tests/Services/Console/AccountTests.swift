import Foundation
import Postgres
import Storage
import Testing

@testable import Console

/// The page of an account.
@Suite(.hangLimit) struct AccountTests {
    private static let path = "/accounts/Production/\(SampleContents.account)"

    @Test func `Account shows what was paid for each purchase and in all, and who granted access`() async throws {
        try await SampleContents.with { console in
            try await console.withOwner { connection in
                try await connection.run(
                    unsafeScript: """
                        update transaction set price_milliunits = 9990, currency = 'EUR', storefront = 'DEU'
                        where original_transaction_id in ('\(SampleContents.purchase)', '\(SampleContents.ended)')
                        """)
            }
            let cookie = try await console.signedIn(as: "sue", role: "support")
            let token = try #require(try await console.get(Self.path, cookie: cookie).field("token"))
            let granted = try await console.post(
                "\(Self.path)/grants", cookie: cookie,
                [
                    "token": token, "app": SampleContents.app, "product": "pro.monthly", "days": "400",
                    "reason": "outage of Friday",
                ])
            #expect(granted.status == 303)
            let page = try await console.get(Self.path, cookie: cookie).text
            #expect(page.contains("In all: 19.980 EUR in 2 transactions."))
            #expect(page.contains(#"<td data-label="Storefront">DEU</td><td data-label="Price">9.99 EUR</td>"#))
            #expect(page.components(separatedBy: "9.990 EUR in 1 transaction<").count == 3)
            #expect(page.contains(#"<td data-label="By">sue</td>"#))
            // The grant ends last: the headline does not name what ends sooner.
            let end = Moment(RunningConsole.now.addingTimeInterval(400 * 86_400), now: RunningConsole.now)
            #expect(page.contains("This account may use pro.monthly until \(end.text)"))
        }
    }
}
