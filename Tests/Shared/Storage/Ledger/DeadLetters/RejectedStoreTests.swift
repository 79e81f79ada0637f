import Contracts
import Foundation
import Postgres
import Records
import Storage
import TestSupport
import Testing

@Suite struct RejectedStoreTests {
    static func row(_ offset: Int64, _ reason: String) -> RejectedRow {
        RejectedRow(
            cluster: "c", position: LogPosition(topic: "notifications.rejected", partition: 0, offset: offset),
            stage: "verifier", reason: reason, message: "what happened",
            rejectedAt: Date(milliseconds: 1_760_000_000_000 + offset))
    }

    @Test func `Dead letters are stored once and listed newest first`() async throws {
        try await TestDatabase.connected { connection async throws in
            let store = RejectedStore(connection)
            let rows = [Self.row(1, "signature"), Self.row(2, "environment"), Self.row(3, "signature")]
            #expect(try await store.record(rows) == 3)
            #expect(try await store.record(rows + [Self.row(4, "signature")]) == 1)
            let newest = try await DeadLetterGroups(connection).deadLetters(.init(), limit: 2).deadLetters
            #expect(newest.map(\.offset) == [4, 3] && newest.map(\.criteria.reason) == ["signature", "signature"])
        }
    }

    @Test func `Dead letter is stored beside one of an earlier topic at its offset`() async throws {
        try await TestDatabase.connected { connection async throws in
            let store = RejectedStore(connection)
            #expect(try await store.record([Self.row(1, "signature"), Self.row(2, "signature")]) == 2)
            var new = Self.row(1, "environment")
            new.rejectedAt = Date(milliseconds: 1_770_000_000_000)
            #expect(try await store.record([new]) == 1)
            #expect(try await store.record([new]) == 0)
            let deadLetters = try await DeadLetterGroups(connection).deadLetters(.init(), limit: 3).deadLetters
            #expect(deadLetters.map(\.offset) == [1, 2, 1])
            #expect(deadLetters.map(\.criteria.reason) == ["environment", "signature", "signature"])
        }
    }

    @Test func `Dead letter is open although one at its offset was dismissed before it was rejected`() async throws {
        try await TestDatabase.connected { connection async throws in
            let rows = [Self.row(1, "signature"), Self.row(2, "signature")]
            _ = try await RejectedStore(connection).record(rows)
            func dismissed(_ row: RejectedRow, after seconds: Double) -> OperatorAction {
                OperatorAction(
                    actedAt: row.rejectedAt.addingTimeInterval(seconds), actor: "ann",
                    operation: "dead-letters dismiss",
                    subject: "dead letter c/0/\(row.position.offset)", reason: nil)
            }
            try await OperatorActionStore(connection).record([
                dismissed(rows[0], after: -1), dismissed(rows[1], after: 1),
            ])
            let groups = try await DeadLetterGroups(connection).groups(
                .init(), from: .distantPast, to: .distantFuture, days: 1)
            #expect(groups.map(\.open) == [1])
            let deadLetters = try await DeadLetterGroups(connection).deadLetters(.init(), limit: 10).deadLetters
            #expect(deadLetters.map(\.settledBy) == ["dead-letters dismiss", nil])
        }
    }

    /// Any client can post texts of any length, and the code that truncates them may have a bug.
    @Test func `Table of dead letters refuses a text of more than 512 bytes`() async throws {
        try await TestDatabase.use { database async throws in
            let store = RejectedStore(TestDatabase.connection(database))
            // 256 characters of two bytes, and one more.
            let longest = String(repeating: "é", count: 256)
            for path: WritableKeyPath<RejectedRow, String> in [\.message, \.stage, \.reason] {
                var row = Self.row(1, "signature")
                row[keyPath: path] = longest + "é"
                let error = await #expect(throws: PostgresError.self) { _ = try await store.record([row]) }
                #expect(error?.sqlState == "23514")
            }
            for path: WritableKeyPath<RejectedRow, String?> in [\.claims.environment, \.claims.bundleId] {
                var row = Self.row(1, "signature")
                row[keyPath: path] = longest + "é"
                let error = await #expect(throws: PostgresError.self) { _ = try await store.record([row]) }
                #expect(error?.sqlState == "23514")
            }
            var row = Self.row(1, longest)
            row.message = longest
            #expect(try await store.record([row]) == 1)
        }
    }
}
