import Contracts
import Foundation
import Postgres
import Storage
import TestSupport
import Testing

@Suite struct PostponedRequestStoreTests {
    static let now = RecoveryAnswerStoreTests.now

    static func request(_ purchase: String = "1000") -> RecoveryRequest {
        RecoveryRequest(
            environment: .production, originalTransactionId: purchase, bundleId: "com.example.app",
            skipped: ["period", "refund"], before: UUID(), from: now.addingTimeInterval(-60), to: now, requestedAt: now)
    }

    static func postpone(
        _ requests: [RecoveryRequest], _ pause: Duration = .zero, in connection: PostgresConnection
    ) async throws {
        try await RecoveryAnswerStore(connection).record(
            [], attempts: [],
            postponed: requests.map {
                PostponedRequest(request: $0, pause: pause, reason: "the limit", postponedAt: now)
            })
    }

    @Test func `PostponedRequestStore claims a request when it is due, and again without an answer`() async throws {
        try await TestDatabase.connected { connection in
            let store = PostponedRequestStore(connection)
            let (due, later) = (Self.request(), Self.request("2000"))
            try await Self.postpone([due], in: connection)
            try await Self.postpone([later], .seconds(300), in: connection)
            #expect(try await store.take(limit: 10, seconds: 60) == [due])
            #expect(try await store.take(limit: 10, seconds: 60).isEmpty)
            // Its process was killed, and the claim ends.
            try await connection.run(
                unsafeScript: "update postponed_request set not_before = not_before - interval '61 seconds'")
            #expect(try await store.take(limit: 10, seconds: 60) == [due])
            let waiting = try await store.waiting()
            #expect(waiting.map(\.requests) == [2])
            #expect(waiting.map(\.lastError) == ["the limit"])
        }
    }

    @Test func `PostponedRequestStore claims what was put off before the database's clock was set back`()
        async throws
    {
        try await TestDatabase.connected { connection in
            let store = PostponedRequestStore(connection)
            let request = Self.request()
            try await Self.postpone([request], .seconds(900), in: connection)
            try await connection.run(
                unsafeScript: "update postponed_request set not_before = not_before + interval '1 year'")
            #expect(try await store.take(limit: 10, seconds: 60) == [request])
            #expect(try await store.take(limit: 10, seconds: 60).isEmpty)
        }
    }

    @Test func `Each failure waits longer than the last, and an answer ends the waiting`() async throws {
        try await TestDatabase.connected { connection in
            let store = PostponedRequestStore(connection)
            let request = Self.request()
            for _ in 0..<6 { try await Self.postpone([request], in: connection) }
            #expect(try await store.take(limit: 10, seconds: 60).isEmpty)
            #expect(try await store.waiting().map(\.requests) == [1])
            try await RecoveryAnswerStore(connection).record(
                [RecoveryAnswerStoreTests.answer(0, revision: nil, before: request.before)], attempts: [])
            #expect(try await store.waiting().isEmpty)
        }
    }
}
