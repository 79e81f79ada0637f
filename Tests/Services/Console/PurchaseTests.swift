import Foundation
import Operations
import Storage
import Subscriptions
import TestSupport
import Testing

@testable import Console

/// What the page of a purchase shows first, and the page of its account.
@Suite(.hangLimit) struct PurchaseTests {
    private static let id = "2000000000000004"
    private static let purchase = "/purchases/Production/\(id)"
    private static let account = "/accounts/Production/\(SampleContents.account)"

    /// Three of a consumable, as of a time relative to now.
    private static func tell(
        _ type: String, at signed: Double, refunded: Int64? = nil, _ console: RunningConsole
    ) async throws {
        try await console.withOwner { connection in
            let contents = SampleContents(connection: connection)
            _ = try await contents.notification(
                type, nil, purchase: id, from: -500, to: 0, signed: signed, product: "coins.small",
                decoded: """
                    {"data":{"signedTransactionInfo":{"transactionId":"\(id)","originalTransactionId":"\(id)",\
                    "productId":"coins.small","type":"Consumable","quantity":3}}}
                    """
            ) { event in
                event.status = nil
                event.renewal = nil
                event.transaction?.productType = "Consumable"
                event.transaction?.expiresDate = nil
                event.transaction?.quantity = 3
                guard let refunded else { return }
                event.transaction?.revocationDate = contents.now.addingTimeInterval(signed)
                event.transaction?.revocationPercentage = refunded
            }
        }
    }

    @Test func `Quantity, credit and balance of a consumable are on its page, its account and its refund request`()
        async throws
    {
        try await RunningConsole.with { console in
            try await Self.tell("ONE_TIME_CHARGE", at: -500, console)
            let cookie = try await console.signedIn(role: "support")
            let bought = try await console.get(Self.purchase, cookie: cookie).text
            #expect(bought.contains("<dt>bought</dt><dd>3 × coins.small; nothing is credited yet"))
            try await console.withOwner { connection in
                try await ProductStore(connection).setCredits(
                    [.init(productId: "coins.small", amount: 100, unit: "coins")], removing: [],
                    ofApp: SampleContents.app)
                _ = try await CreditStore(connection).credit(
                    Self.id, in: .production, to: nil, among: nil, by: "key", at: RunningConsole.now)
            }
            let credited = try await console.get(Self.purchase, cookie: cookie).text
            #expect(credited.contains("3 × coins.small; 300 coins credited \(RunningConsole.now.text)</dd>"))
            #expect(credited.contains("<dt>balance of the account</dt><dd>300 coins: 300 credited; the app itself"))
            try await Self.tell("CONSUMPTION_REQUEST", at: -300, console)
            try await Self.tell("REFUND", at: -200, refunded: 33_999, console)
            let refunded = try await console.get(Self.purchase, cookie: cookie).text
            #expect(refunded.contains("; the refund took 101 back</dd>"))
            #expect(refunded.contains("199 coins: 300 credited, 101 taken back by refunds"))
            #expect(refunded.contains("<dt>refunded share</dt><dd>33.999 %</dd>"))
            let request = try await console.get("/refunds/Production/\(Self.id)", cookie: cookie).text
            #expect(request.contains("the refund took 101 back") && request.contains("199 coins: 300 credited"))
            let account = try await console.get(Self.account, cookie: cookie).text
            #expect(account.contains(#"<th scope="row">coins</th>"#))
            #expect(account.contains(#"<td data-label="Balance">199</td><td data-label="Credited">300</td>"#))
            #expect(account.contains(#"<td data-label="Taken back">101</td>"#))
            #expect(account.contains(#"<td data-label="Product">coins.small</td>"#))
            let export = try await console.get("\(Self.account)/export", cookie: cookie).text
            #expect(export.contains(#""takenBack""#) && export.contains("101"))
        }
    }

    @Test func `Commitment, message in the app and items of Advanced Commerce are on the purchase's page`()
        async throws
    {
        try await RunningConsole.with { console in
            try await console.withOwner { connection in
                let contents = SampleContents(connection: connection)
                func renewal(_ event: inout PurchaseEvent) {
                    event.renewal?.priceIncreaseStatus = 0
                    event.renewal?.renewalPriceMilliunits = 9990
                    event.renewal?.currency = "EUR"
                }
                let items = #"""
                    {"currency":"EUR","advancedCommerceInfo":{"items":[{"SKU":"news","price":1990,\#
                    "offer":{"period":"P1M","periodCount":3,"price":990,"reason":"ACQUISITION"}}]}}
                    """#
                _ = try await contents.notification(
                    "SUBSCRIBED", "INITIAL_BUY", purchase: Self.id, from: -500, to: 864_000,
                    decoded: #"{"data":{"signedTransactionInfo":\#(items)}}"#
                ) { event in
                    renewal(&event)
                    event.transaction?.offerType = 1
                    event.transaction?.commitmentInfo = """
                        {"billingPeriodNumber":3,"totalBillingPeriods":12,"commitmentExpiresDate":1798761600000}
                        """
                }
                // The newest notification need not hold the transaction.
                _ = try await contents.notification(
                    "PRICE_INCREASE", "PENDING", purchase: Self.id, from: -500, to: 864_000, signed: -100, decoded: "{}"
                ) { event in
                    renewal(&event)
                    event.transaction = nil
                }
            }
            let cookie = try await console.signedIn(role: "support")
            let page = try await console.get(Self.purchase, cookie: cookie).text
            #expect(page.contains("<dt>commitment</dt><dd>payment 3 of 12, bound until 2027-01-01"), "\(page)")
            #expect(page.contains("the next payment is 9.990 EUR"))
            #expect(page.contains("<dt>message in the app</dt><dd>a price increase needs consent</dd>"))
            #expect(page.contains("item news: 1.990 EUR, offer 3 × P1M for 0.990 EUR (ACQUISITION)"))
            #expect(page.contains("<dt>offer</dt><dd>introductory</dd>"))
            let account = try await console.get(Self.account, cookie: cookie).text
            #expect(account.contains(#"<td data-label="What">commitment: payment 3 of 12, bound until 2027-01-01"#))
            #expect(account.contains("message in the app: a price increase needs consent"))
        }
    }
}
