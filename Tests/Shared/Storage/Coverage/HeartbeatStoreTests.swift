import Contracts
import Foundation
import Postgres
import Storage
import TestSupport
import Testing

@Suite struct HeartbeatStoreTests {
    static let read = Statement("test-heartbeats", "select accepted, rejected from ingest_heartbeat order by minute")

    @Test func `HeartbeatStore stores a heartbeat sent twice as it was sent last`() async throws {
        try await TestDatabase.connected { connection async throws in
            func beat(_ minute: Int64, _ accepted: Int64) -> IngestHeartbeat {
                IngestHeartbeat(
                    instance: "a", minute: Date(milliseconds: minute * 60_000), accepted: accepted,
                    rejected: [400: 1, 503: 2])
            }
            let store = HeartbeatStore(connection)
            try await store.record([beat(1, 5), beat(2, 6), beat(1, 7)])
            try await store.record([beat(2, 8)])
            let rows = try await connection.execute(Self.read)
            #expect(try rows.map { row in try row.value("accepted", as: Int64.self) } == [7, 8])
            #expect(try rows.map { row in try row.value("rejected", as: Int64.self) } == [3, 3])
        }
    }

    @Test func `Minutes add up the unavailable answers of all instances, without rejected requests`() async throws {
        try await TestDatabase.use { database async throws in
            let store = HeartbeatStore(TestDatabase.connection(database))
            func beat(_ instance: String, _ minute: Int64, _ rejected: [Int: Int64]) -> IngestHeartbeat {
                IngestHeartbeat(
                    instance: instance, minute: Date(milliseconds: minute * 60_000), accepted: 1, rejected: rejected)
            }
            try await store.record([
                beat("a", 1, [:]), beat("a", 2, [400: 9, 503: 2]), beat("b", 2, [500: 3]), beat("a", 4, [404: 1]),
            ])
            #expect(
                try await store.minutes(from: Date(milliseconds: 61_000)) == [
                    .init(start: Date(milliseconds: 120_000), unavailable: 5),
                    .init(start: Date(milliseconds: 240_000)),
                ])
            #expect(try await store.delete(before: Date(milliseconds: 240_000)) == 3)
        }
    }
}
