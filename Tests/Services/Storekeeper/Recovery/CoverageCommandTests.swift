import Contracts
import Foundation
import Postgres
import Storage
import TestSupport
import Testing

@testable import Storekeeper

struct CoverageCommandTests {
    private struct Day: Decodable, Equatable {
        var day: String
        var state: String
        var stillMissing: Int64
    }

    @Test func `coverage says of each day whether it is complete, and why not`() async throws {
        try await TestDatabase.use { database async throws in
            let none = await database.run(["coverage"])
            // CommandOutcome.now is in the morning of 2025-10-09.
            #expect(none.code == 0 && none.text.hasPrefix("No day from 2025-09-09 "), "\(none.text)")
            #expect(none.text.contains("after its end") && none.text.contains("coverage --windows"), "\(none.text)")
            let connection = TestDatabase.connection(database)
            try await connection.run(
                unsafeScript: """
                    insert into coverage_day (
                        planned_at, completed_at, listed, missing, recovered, still_missing, window_id, day, environment,
                        bundle_id, given_up, unreadable)
                    values
                        (now(), now(), 20, 2, 2, 0, gen_random_uuid(), '2025-10-06', 'Production', 'app', null, 471),
                        (now(), null, 20, 2, 1, 1, gen_random_uuid(), '2025-10-07', 'Production', 'app', null, 0),
                        (now(), null, 0, 0, 0, 0, gen_random_uuid(), '2025-10-08', 'Production', 'app', 'too old', 0);
                    """)
            let listed = await database.run(["coverage", "--json"])
            #expect(listed.code == 1, "a day is given up and one lacks something")
            #expect(
                try listed.json(as: [Day].self) == [
                    Day(day: "2025-10-06", state: "complete", stillMissing: 0),
                    Day(day: "2025-10-07", state: "missing", stillMissing: 1),
                    Day(day: "2025-10-08", state: "given up", stillMissing: 0),
                ])
            let complete = await database.run(["coverage", "--to", "2025-10-07"])
            #expect(complete.code == 0 && complete.text.contains("complete"))
            #expect(complete.text.contains("unreadable") && complete.text.contains(" 471 "))
        }
    }

    @Test func `coverage --windows lists the windows behind the days`() async throws {
        try await TestDatabase.use { database async throws in
            let scope = RecoveryWindow.Scope(
                environment: .sandbox, bundleId: "app", from: CommandOutcome.now.addingTimeInterval(-60),
                to: CommandOutcome.now, onlyFailures: true)
            try await RecoveryWindowStore(TestDatabase.connection(database)).open(
                [RecoveryWindow.Request(id: UUID(), scope: scope, reason: .failures)], at: CommandOutcome.now)
            let listed = await database.run(["coverage", "--windows"])
            #expect(listed.code == 0)
            #expect(listed.text.contains("2025-10-09T08:52:20Z") && listed.text.contains("open"))
            #expect(listed.text.contains("  failures  open"), "\(listed.text)")
        }
    }
}
