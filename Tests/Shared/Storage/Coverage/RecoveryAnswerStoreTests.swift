import Contracts
import Foundation
import Storage
import Subscriptions
import TestSupport
import Testing

@Suite struct RecoveryAnswerStoreTests {
    static let key = SubscriptionKey(environment: .production, originalTransactionId: "1000")
    static let now = Date(timeIntervalSince1970: 1_760_000_000)

    static func answer(_ seconds: Double, revision: String?, before: UUID = UUID()) -> RecoveryAnswer {
        RecoveryAnswer(
            key: key, bundleId: "com.example.app", before: before, outcome: "answered", notifications: 3, missing: 2,
            signedObjects: 1, revision: revision, answeredAt: now.addingTimeInterval(seconds))
    }

    @Test func `RecoveryAnswerStore begins the next request at the revision of the last answer`() async throws {
        try await TestDatabase.connected { connection in
            let store = RecoveryAnswerStore(connection)
            #expect(try await store.revision(of: Self.key) == nil)
            try await store.record([Self.answer(0, revision: "a"), Self.answer(0, revision: nil)], attempts: [])
            #expect(try await store.revision(of: Self.key) == "a")
            try await store.record([Self.answer(2, revision: "c")], attempts: [])
            // An earlier request whose answer is stored late.
            try await store.record([Self.answer(1, revision: "b")], attempts: [])
            #expect(try await store.revision(of: Self.key) == "c")
        }
    }

    @Test func `RecoveryAnswerStore keeps one row of an answer stored twice`() async throws {
        try await TestDatabase.connected { connection in
            let store = RecoveryAnswerStore(connection)
            let before = UUID()
            for _ in 0..<2 { try await store.record([Self.answer(0, revision: "a", before: before)], attempts: []) }
            try await store.record([Self.answer(5, revision: "b")], attempts: [])
            let answers = try await store.answers(of: Self.key)
            #expect(answers.count == 2)
            #expect(answers.last == Self.answer(0, revision: "b", before: before))
        }
    }
}
