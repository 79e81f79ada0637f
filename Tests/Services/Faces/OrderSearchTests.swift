import Storage
import Synchronization
import TestSupport
import Testing

@testable import APITests
@testable import ConsoleTests

@Suite(.hangLimit) struct OrderSearchTests {
    @Test func `An app for which Apple does not answer hides no order of another app from the console`() async throws {
        // Its name comes first.
        try await Self.with(strangers: ["com.example.another"]) { console, bought, _ in
            let cookie = try await console.signedIn(role: "support")
            let found = try await console.get("/search?q=\(bought.orderId)", cookie: cookie)
            #expect(found.status == 303, "\(found.text)")
            #expect(found.header("location") == "/purchases/Production/\(bought.originalTransactionId)")
            let unknown = try await console.get("/search?q=MZZZZZZZZZ", cookie: cookie)
            #expect(unknown.text.contains("could not be asked about the order for com.example.another"))
        }
    }

    @Test func `A page of another site that leads to the console's search has it ask Apple nothing`() async throws {
        try await Self.with { console, bought, asked in
            let cookie = try await console.signedIn(role: "support")
            func search(_ site: String) async throws -> RunningConsole.Answer {
                try await console.send(
                    "GET", "/search?q=\(bought.orderId)", cookie: cookie, headers: ["Sec-Fetch-Site": site])
            }
            for site in ["cross-site", "same-site"] {
                let refused = try await search(site)
                #expect(refused.status == 200 && refused.text.contains("a page of another site led here"))
            }
            #expect(asked() == 0)
            for site in ["same-origin", "none"] { #expect(try await search(site).status == 303) }
            #expect(asked() == 2)
        }
    }

    @Test func `A viewer's search in the console asks Apple nothing, and says which role does`() async throws {
        try await Self.with { console, bought, asked in
            let cookie = try await console.signedIn(role: "viewer")
            let page = try await console.get("/search?q=\(bought.orderId)", cookie: cookie)
            #expect(page.status == 200 && page.text.contains("needs the role support; yours is viewer"))
            #expect(asked() == 0)
        }
    }

    @Test func `A person of the console asks Apple about no more orders than the budget allows`() async throws {
        // An order costs as much as five transactions.
        let now = ContinuousClock.now
        try await Self.with(questions: 6, instant: { now }) { console, bought, asked in
            let cookies = [
                try await console.signedIn(as: "ann", role: "support"),
                try await console.signedIn(as: "bob", role: "support"),
            ]
            func search(_ person: Int) async throws -> RunningConsole.Answer {
                try await console.get("/search?q=\(bought.orderId)", cookie: cookies[person])
            }
            #expect(try await search(0).status == 303)
            #expect(try await search(0).status == 303)
            let refused = try await search(0)
            #expect(refused.status == 429 && refused.text.contains("you have asked Apple as much as one person may"))
            #expect(asked() == 2)
            #expect(try await search(1).status == 303)
        }
    }

    @Test func `A search in the console ends where Apple took too long for the apps before`() async throws {
        let (start, looks) = (ContinuousClock.now, Counter())
        try await Self.with(
            instant: {
                looks.count.withLock { count in
                    count += 1
                    return start + .seconds(11 * count)
                }
            }
        ) { console, bought, asked in
            let cookie = try await console.signedIn(role: "support")
            let page = try await console.get("/search?q=\(bought.orderId)", cookie: cookie)
            #expect(page.status == 200 && page.text.contains("Apple did not answer within 10.0 seconds"))
            #expect(asked() == 0)
        }
    }

    /// A console before an App Store that knows an order, whose purchase is stored.
    /// - Parameter body: is given the number of requests to Apple, too.
    private static func with(
        strangers: [String] = [], questions: Int = 100_000,
        instant: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        _ body: @Sendable (RunningConsole, AppleFixture.Bought, @Sendable () -> Int) async throws -> Void
    ) async throws {
        let counter = Counter()
        try await AppleFixture.with(
            SampleContents.app, strangers: strangers, observe: { _ in counter.count.withLock { $0 += 1 } }
        ) { store, clients in
            let bought = try store.subscribe()
            try await RunningConsole.with(apple: clients, questions: questions, instant: instant) { console in
                try await console.withOwner { connection in
                    _ = try await SampleContents(connection: connection).notification(
                        "SUBSCRIBED", "INITIAL_BUY", purchase: bought.originalTransactionId, from: -100, to: 864_000)
                }
                try await body(console, bought) { counter.count.withLock(\.self) }
            }
        }
    }

    private final class Counter: Sendable {
        let count = Mutex(0)
    }
}
