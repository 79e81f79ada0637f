import Contracts
import Foundation
import Postgres
import Storage
import Subscriptions
import TestSupport
import Testing

/// When customers first got an app.
@Suite struct AccountAppStoreTests {
    private static let app = "com.example.app"
    private static let account = UUID()
    private static let now = Date(timeIntervalSince1970: 1_780_000_000)

    private static func upload(
        _ evidence: ClaimEvidence, preorder: Date?, seconds: Double, to store: AccountAppStore
    ) async throws {
        try await store.add(
            AccountAppStore.AccountApp(
                environment: .production, bundleId: app, appAccountToken: account, identity: "70", evidence: evidence,
                originalApplicationVersion: "1", originalPurchaseDate: now.addingTimeInterval(-1000),
                preorderDate: preorder, recordedAt: now.addingTimeInterval(seconds)), isRestore: false)
    }

    @Test func `First purchase gets the pre-order that a later upload names, and keeps what it has`() async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            let store = AccountAppStore(connection)
            let preorder = Self.now.addingTimeInterval(-5000)
            func recordedAt() async throws -> Date {
                try await connection.execute(unsafeSQL: "select recorded_at from account_app")[0]
                    .value(at: 0)
            }
            #expect(try await store.firstPurchases(of: Self.account, in: .production).isEmpty)
            try await Self.upload(.signed, preorder: nil, seconds: 0, to: store)
            let first = try await store.firstPurchases(of: Self.account, in: .production)
            #expect(first.map(\.preorderDate) == [nil] && first.map(\.isEntitled) == [true])
            let recorded = try await recordedAt()
            try await Self.upload(.signed, preorder: preorder, seconds: 10, to: store)
            #expect(try await store.firstPurchases(of: Self.account, in: .production).map(\.preorderDate) == [preorder])
            // The claim is as old as before: a date tells nothing about whose the app is.
            #expect(try await recordedAt() == recorded)
            try await Self.upload(.device, preorder: nil, seconds: 20, to: store)
            let last = try await store.firstPurchases(of: Self.account, in: .production, of: Self.app)
            #expect(last.map(\.preorderDate) == [preorder])
            #expect(last.map(\.originalPurchaseDate) == [Self.now.addingTimeInterval(-1000)])
            #expect(try await recordedAt() > recorded)
            #expect(try await store.firstPurchases(of: Self.account, in: .sandbox).isEmpty)
            #expect(try await store.firstPurchases(of: Self.account, in: .production, of: "other").isEmpty)
        }
    }
}
