import Contracts
import Foundation
import Records
import Storage
import TestSupport
import Testing

@Suite struct IncidentStoreTests {
    @Test func `IncidentStore counts no dead letter that was replayed or dismissed`() async throws {
        try await TestDatabase.connected { connection async throws in
            let (now, store) = (Fixtures.now, IncidentStore(connection))
            _ = try await RejectedStore(connection).record(
                (0..<3).map { offset in
                    RejectedRow(
                        cluster: "c", position: LogPosition(topic: "t", partition: 0, offset: offset),
                        stage: "verifier", reason: "app-unknown", message: "", rejectedAt: now)
                })
            func act(_ operation: String, on offset: Int, after seconds: Double) async throws {
                try await OperatorActionStore(connection).record([
                    OperatorAction(
                        actedAt: now.addingTimeInterval(seconds), actor: "ann", operation: operation,
                        subject: "dead letter c/0/\(offset)", reason: nil)
                ])
            }
            try await act("dead-letters replay", on: 0, after: 60)
            try await act("dead-letters dismiss", on: 1, after: 60)
            // Of another one at its offset, before the topic was created again.
            try await act("dead-letters dismiss", on: 2, after: -60)
            let found = try await store.rejections(since: now.addingTimeInterval(-3600), now: now)
            #expect(found.map(\.reason) == ["app-unknown"] && found.map(\.count) == [1] && found.map(\.recent) == [1])
        }
    }

    @Test func `IncidentStore knows the receivers that were stopped from those that are silent`() async throws {
        try await TestDatabase.connected { connection async throws in
            func beat(_ instance: String, _ minute: Int64, isLast: Bool = false) -> IngestHeartbeat {
                IngestHeartbeat(
                    instance: instance, minute: Date(milliseconds: minute * 60_000), accepted: 1, rejected: [:],
                    isLast: isLast)
            }
            try await HeartbeatStore(connection).record([
                beat("a", 1), beat("a", 2, isLast: true), beat("b", 1), beat("b", 2),
            ])
            let receivers = try await IncidentStore(connection).receivers(since: Date(milliseconds: 0))
            #expect(receivers.map(\.instance) == ["a", "b"] && receivers.map(\.isStopped) == [true, false])
        }
    }

    @Test func `IncidentStore names the apps whose notifications of version 1 were recorded since a time`() async throws
    {
        try await LedgerStoreTests.use { connection, _ async throws in
            let store = IncidentStore(connection)
            let since = Fixtures.now.addingTimeInterval(-60)
            #expect(try await store.version1(since: since) == [])
            var fixtures = Fixtures(seed: 3)
            var entries = [fixtures.entry()]
            let apps: [(StoreEnvironment, String)] = [
                (.production, "b"), (.production, "a"), (.sandbox, "a"), (.production, "a"),
            ]
            for (environment, bundleId) in apps {
                entries.append(
                    LedgerEntry(
                        notificationUUID: fixtures.uuid(), notificationType: "V1", subtype: "CANCEL",
                        environment: environment, bundleId: bundleId, appAppleId: nil, originalTransactionId: nil,
                        transactionId: nil, signedDate: nil, receivedAt: Fixtures.now, source: .webhook,
                        decodedPayload: "{}", signedPayload: [], event: nil,
                        position: LogPosition(
                            topic: Fixtures.topic, partition: 0, offset: Int64(entries.count))))
            }
            _ = try await LedgerStore(connection).apply(
                entries, moving: [Fixtures.move(0, 5)], recordedAt: Fixtures.now)
            let found = try await store.version1(since: since)
            #expect(found.map(\.bundleId) == ["a", "a", "b"])
            #expect(found.map(\.environment) == [.production, .sandbox, .production])
            #expect(found.map(\.count) == [2, 1, 1])
            #expect(found.allSatisfy { $0.last == Fixtures.now })
            #expect(try await store.version1(since: Fixtures.now.addingTimeInterval(1)) == [])
        }
    }
}
