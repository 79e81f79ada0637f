import Contracts
import Foundation
import Postgres
import Records
import TestSupport
import Testing

@testable import Storage

/// Errors appear in logs, so they must not contain rows.
@Suite(.serialized) struct RowsInErrorsTests {
    @Test func `An error of a rejected row shows nothing of its payload`() async throws {
        try await TestDatabase.connected { connection in
            try await connection.run(
                unsafeScript: "alter table notification add constraint broken check (bundle_id = '') not valid")
            var fixtures = Fixtures(seed: 12)
            var entry = fixtures.entry(purchases: 1)
            entry.decodedPayload = #"{"appAccountToken":"very-private"}"#
            _ = try await PositionStore(connection).establish(
                cluster: "cluster", group: "state-updater",
                lowWatermarks: [LogPosition(topic: Fixtures.topic, partition: 0, offset: 0)])
            let error = await #expect(throws: PostgresError.self) {
                _ = try await LedgerStore(connection).apply(
                    [entry], moving: [Fixtures.move(0, 1)], recordedAt: Fixtures.now)
            }
            let text = "\(try #require(error)) \(String(reflecting: error))"
            #expect(text.contains("broken"))
            for word in ["very-private", "Failing row", entry.notificationUUID.uuidString.lowercased()] {
                #expect(!text.contains(word), "\(text)")
            }
        }
    }
}
