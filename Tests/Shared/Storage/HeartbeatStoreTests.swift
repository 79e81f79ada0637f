import Contracts
import Foundation
import Postgres
import Storage
import TestSupport
import Testing

@Suite struct HeartbeatStoreTests {
    static let read = Statement("test-heartbeats", "select accepted, refused from ingest_heartbeat order by minute")

    @Test func `a minute told twice is kept as it was told last`() async throws {
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            func beat(_ minute: Int64, _ accepted: Int64) -> IngestHeartbeat {
                IngestHeartbeat(
                    instance: "a", minute: Date(milliseconds: minute * 60_000), accepted: accepted,
                    refused: [400: 1, 503: 2])
            }
            let store = HeartbeatStore(connection)
            try await store.record([beat(1, 5), beat(2, 6), beat(1, 7)])
            try await store.record([beat(2, 8)])
            let rows = try await connection.execute(Self.read)
            #expect(try rows.map { row in try row.value("accepted", as: Int64.self) } == [7, 8])
            #expect(try rows.map { row in try row.value("refused", as: Int64.self) } == [3, 3])
        }
    }
}
