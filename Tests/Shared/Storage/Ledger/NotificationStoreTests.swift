import Foundation
import Storage
import Subscriptions
import TestSupport
import Testing

@Suite struct NotificationStoreTests {
    @Test func `Pages hold every notification once`() async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            var fixtures = Fixtures(seed: 1)
            let entries = fixtures.entries(25)
            _ = try await LedgerStore(connection).apply(
                entries, moving: [Fixtures.move(0, 25)], recordedAt: Fixtures.now)
            let store = NotificationStore(connection)
            var uuids: [UUID] = []
            while true {
                let page = try await store.page(after: uuids.last, limit: 10)
                if page.isEmpty { break }
                uuids += page.map(\.notificationUUID)
            }
            #expect(uuids == entries.map(\.notificationUUID).sorted { $0.uuidString < $1.uuidString })
        }
    }

    @Test func `Notifications of one purchase are in Apple's order`() async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            var fixtures = Fixtures(seed: 2)
            let entries = fixtures.entries(40, purchases: 3)
            _ = try await LedgerStore(connection).apply(
                entries, moving: [Fixtures.move(0, 40)], recordedAt: Fixtures.now)
            let key = SubscriptionKey(environment: .production, originalTransactionId: "20000001")
            let lines = try await NotificationStore(connection).lines(of: key)
            let expected = entries.compactMap(\.event).filter { $0.key == key }.map(\.version).sorted()
            #expect(lines.map(\.notificationUUID) == expected.map(\.notificationUUID))
            #expect(!lines.isEmpty)
        }
    }
}
