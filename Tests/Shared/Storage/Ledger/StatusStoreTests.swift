import Storage
import TestSupport
import Testing

@Suite struct StatusStoreTests {
    @Test func `Status counts notifications, purchases and dead letters`() async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            let store = StatusStore(connection)
            #expect(try await store.status().newestReceivedAt == nil)
            var fixtures = Fixtures(seed: 1)
            let entries = fixtures.entries(30)
            _ = try await LedgerStore(connection).apply(
                entries, moving: [Fixtures.move(0, 30)], recordedAt: Fixtures.now)
            let status = try await store.status()
            #expect(status.notifications == 30)
            #expect(status.subscriptions == Fixtures.states(after: entries).count)
            #expect(status.rejected == 0)
            #expect(status.newestReceivedAt == entries[0].receivedAt)
            #expect(status.kinds.map(\.count).reduce(0, +) == 30)
            for kind in status.kinds {
                let alike = entries.filter {
                    $0.notificationType == kind.notificationType && $0.subtype == kind.subtype
                }
                #expect(kind.count == alike.count)
            }
        }
    }
}
