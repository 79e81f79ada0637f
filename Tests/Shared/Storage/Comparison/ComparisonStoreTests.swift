import Foundation
import Postgres
import TestSupport
import Testing

@testable import Storage

@Suite(.serialized) struct ComparisonStoreTests {
    @Test func `Customers whose ids differ in their Unicode form alone have an account each`() async throws {
        try await TestDatabase.connected { connection async throws in
            let ids = ["Ren\u{E9}", "Rene\u{301}"]
            for id in ids {
                _ = try await CustomerRecords(connection).put(
                    CustomerRecords.Customer(
                        id: id, environment: .production, bundleId: "com.example.app", appAccountToken: UUID(),
                        createdAt: Fixtures.now), isTokenGiven: true)
            }
            let accounts = try await ComparisonStore(connection).accounts(
                of: ids, CoverageStore.App(.production, "com.example.app"))
            #expect(accounts.count == 2 && Set(accounts.values).count == 2)
        }
    }
}
