import Foundation
import Storage
import TestSupport
import Testing

@Suite struct OperatorActionStoreTests {
    @Test func `OperatorActionStore lets Apple be asked once for an action, and again once it has certainly failed`()
        async throws
    {
        try await TestDatabase.connected { connection async throws in
            let store = OperatorActionStore(connection)
            func action(_ outcome: OperatorAction.Outcome, on subject: String = "purchase 1, request a")
                -> OperatorAction
            {
                OperatorAction(
                    actedAt: Date(timeIntervalSince1970: 1_765_000_000), actor: "ann", operation: "extend",
                    subject: subject, reason: "outage", outcome: outcome)
            }
            #expect(try await store.begin(action(.requested)))
            #expect(try await !store.begin(action(.requested)))
            #expect(try await store.begin(action(.requested, on: "purchase 1, request b")))
            try await store.record([action(.failed)])
            #expect(try await store.begin(action(.requested)))
            try await store.record([action(.done)])
            #expect(try await !store.begin(action(.requested)))
            #expect(try await store.actions(on: ["purchase 1, request a"]).count == 4)
        }
    }
}
