import Postgres
import Storage
import TestSupport
import Testing

@Suite struct AppleRequestLimitStoreTests {
    private static func question(_ endpoint: String = "a", burst: Int = 1) -> AppleRequestLimitStore.Question {
        AppleRequestLimitStore.Question(
            bundleId: "com.example.app", environment: "Sandbox", endpoint: endpoint, perSecond: 0.001, burst: burst)
    }

    @Test func `AppleRequestLimitStore gives out moments at even distances, also to several processes at once`()
        async throws
    {
        try await TestDatabase.use { database async throws in
            let stores = (0..<3).map { _ in AppleRequestLimitStore(TestDatabase.connection(database)) }
            let waits = try await withThrowingTaskGroup(of: Double?.self) { group in
                for store in stores {
                    for _ in 0..<4 { group.addTask { try await store.take(Self.question(), patience: 1e6) } }
                }
                return try await group.reduce(into: []) { $0.append($1 ?? -1) }.sorted()
            }
            #expect(waits.count == 12 && waits[0] == 0)
            for (earlier, later) in zip(waits, waits.dropFirst()) { #expect(later - earlier > 500) }
        }
    }

    @Test func `AppleRequestLimitStore takes no moment that is later than a question can wait`() async throws {
        try await TestDatabase.use { database async throws in
            let store = AppleRequestLimitStore(TestDatabase.connection(database))
            #expect(try await store.pause(before: Self.question()) == 0)
            #expect(try await store.take(Self.question(), patience: 0) == 0)
            #expect(try await store.take(Self.question(), patience: 0) == nil)
            #expect(try await store.take(Self.question("b"), patience: 0) == 0)
            let pause = try await store.pause(before: Self.question())
            #expect(pause > 500 && pause <= 1000)
            // What was not taken is still there.
            #expect(try await store.take(Self.question(), patience: 1000) ?? 0 <= pause)
        }
    }

    @Test func `AppleRequestLimitStore allows a burst after a pause, and none while Apple wants a pause`() async throws
    {
        try await TestDatabase.use { database async throws in
            let store = AppleRequestLimitStore(TestDatabase.connection(database))
            let question = Self.question(burst: 2)
            #expect(try await store.take(question, patience: 0) == 0)
            #expect(try await store.take(question, patience: 0) == 0)
            #expect(try await store.take(question, patience: 0) == nil)
            try await store.close(question, seconds: 3600)
            #expect(try await store.pause(before: question) > 3000)
            #expect(try await store.take(question, patience: 60) == nil)
        }
    }

    @Test func `AppleRequestLimitStore goes on at once where the database's clock was set back`() async throws {
        try await TestDatabase.connected { connection async throws in
            let store = AppleRequestLimitStore(connection)
            let question = Self.question()
            func setBack() async throws {
                _ = try await store.take(question, patience: 1e6)
                try await connection.run(
                    unsafeScript: "update apple_request_limit set next_at = next_at + interval '1 year'")
            }
            try await setBack()
            #expect(try await store.pause(before: question) == 0)
            #expect(try await store.take(question, patience: 0) == 0)
            #expect(try await store.take(question, patience: 0) == nil)
            try await setBack()
            try await store.close(question, seconds: 60)
            let pause = try await store.pause(before: question)
            #expect(pause > 0 && pause <= 60)
        }
    }
}
