import Contracts
import Foundation
import Postgres
import TestSupport
import Testing

@testable import Storage

/// A key whose first request was interrupted, or takes longer than a minute.
@Suite(.hangLimit) struct IdempotencyStoreTests {
    private static let key = UUID()
    private static let first = [UInt8](repeating: 1, count: 32)
    private static let named = IdempotencyStore.Named(
        environment: .production, bundleId: nil, appAccountTokens: [], customerId: nil)

    private static func at(_ seconds: Double) -> Date { Fixtures.now.addingTimeInterval(seconds) }

    private static func claim(
        _ digest: [UInt8] = first, after seconds: Double, _ store: IdempotencyStore
    ) async throws -> IdempotencyStore.Known {
        try await store.claim(
            "a", of: key, digest: digest, at: at(seconds), expiry: at(seconds - 86_400), abandoned: at(seconds - 60))
    }

    @Test func `IdempotencyStore gives the key of an interrupted request to no other request before it expires`()
        async throws
    {
        try await LedgerStoreTests.use { connection, _ async throws in
            let store = IdempotencyStore(connection)
            let second = [UInt8](repeating: 2, count: 32)
            #expect(try await Self.claim(after: 0, store) == .new)
            #expect(try await Self.claim(second, after: 61, store) == .mismatch)
            #expect(try await Self.claim(after: 61, store) == .new)
            #expect(try await Self.claim(second, after: 61 + 86_401, store) == .new)
        }
    }

    @Test func `IdempotencyStore changes nothing of a newer claim for an execution that ends late`() async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            let store = IdempotencyStore(connection)
            #expect(try await Self.claim(after: 0, store) == .new)
            #expect(try await Self.claim(after: 61, store) == .new)
            func begin(_ seconds: Double) async throws -> Int {
                try await connection.pipeline([
                    IdempotencyStore.command(beginning: "a", of: Self.key, claimedAt: Self.at(seconds), answer: [])
                ])[0].affected
            }
            try await store.withdraw("a", of: Self.key, claimedAt: Self.at(0))
            try await store.complete(
                "a", of: Self.key, claimedAt: Self.at(0), status: 201, headers: "{}", body: [1], naming: Self.named)
            #expect(try await begin(0) == 0)
            #expect(try await Self.claim(after: 62, store) == .inProgress)
            #expect(try await begin(61) == 1)
            _ = try await connection.pipeline([
                IdempotencyStore.command(undoing: "a", of: Self.key, claimedAt: Self.at(0))
            ])
            #expect(try await Self.claim(after: 122, store) == .unsettled)
            try await store.complete(
                "a", of: Self.key, claimedAt: Self.at(61), status: 201, headers: "{}", body: [2], naming: Self.named)
            #expect(try await Self.claim(after: 122, store) == .answered(status: 201, headers: "{}", body: [2]))
        }
    }
}
