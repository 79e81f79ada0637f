import Contracts
import Foundation
import Subscriptions
import TestSupport
import Testing

@testable import Storage

extension CustomerStoreTests {
    @Test func `Sharing that a notification without other changes shows is a revision of the purchase`() async throws {
        var fixtures = Fixtures(seed: 564)
        let entries = [0, 2].map { Self.purchase("1", of: Self.tokens[0], by: "70", day: $0, &fixtures) }
        let late = Self.purchase("1", of: Self.tokens[0], by: "70", day: 1, &fixtures)
        try await Self.use(entries) { connection async throws in
            let key = SubscriptionKey(environment: .production, originalTransactionId: "1")
            let claim = AccountClaim(
                key: key, bundleId: Self.app, appTransactionId: nil, appAccountToken: Self.tokens[1], evidence: .signed,
                since: Fixtures.now)
            try await CustomerStore(connection).add([claim])
            _ = try await LedgerStore(connection).apply([late], moving: [], recordedAt: Fixtures.now)
            let rows = try await TimelineStore(connection).rows(of: key)
            #expect(rows.last?.changes.map(\.fact) == [FactChange.sharedAccount])
            #expect(Set(rows.map(\.revision)).count == rows.count)
        }
    }
}
