import Storage
import TestSupport
import Testing

@testable import APITests
@testable import ConsoleTests

@Suite(.hangLimit) struct OrderSearchTests {
    @Test func `An app for which Apple does not answer hides no order of another app from the console`() async throws {
        // Its name comes first.
        try await AppleFixture.with(SampleContents.app, strangers: ["com.example.another"]) { store, clients in
            let bought = try store.subscribe()
            try await RunningConsole.with(apple: clients) { console in
                try await console.withOwner { connection in
                    _ = try await SampleContents(connection: connection).notification(
                        "SUBSCRIBED", "INITIAL_BUY", purchase: bought.originalTransactionId, from: -100, to: 864_000)
                }
                let cookie = try await console.signedIn(role: "support")
                let found = try await console.get("/search?q=\(bought.orderId)", cookie: cookie)
                #expect(found.status == 303, "\(found.text)")
                #expect(found.header("location") == "/purchases/Production/\(bought.originalTransactionId)")
                let unknown = try await console.get("/search?q=MZZZZZZZZZ", cookie: cookie)
                #expect(unknown.text.contains("could not be asked about the order for com.example.another"))
            }
        }
    }
}
