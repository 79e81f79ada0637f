import Postgres
import TestSupport
import Testing

@testable import Storage

/// The plans of statements that select changes of the timeline for webhooks.
@Suite struct WebhookReplayStoreTests {
    /// A service makes the plan once, before there are changes.
    @Test(
        arguments: [
            ("webhook-replay-count-time", "timeline_by_time"), ("webhook-replay-time", "timeline_by_time"),
            // It looks up the rows that Kafka names, however many were applied since.
            ("webhook-enqueue", "timeline_pkey"),
        ])
    func `Changes of a time are read by its index, and single ones by their ids`(
        name: String, index: String
    ) async throws {
        let statement = try #require(StorageStatements.all.first(where: { $0.name == name }))
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            let values = (1...9).filter { statement.sql.contains("$\($0)") }.map { _ in "null" }
            try await connection.run(
                unsafeScript: """
                    set plan_cache_mode = force_generic_plan;
                    set enable_seqscan = off;
                    prepare asked as \(statement.sql)
                    """)
            let plan = try await connection.execute(
                Statement(unsafeSQL: "explain execute asked (\(values.joined(separator: ", ")))")
            ).map { row in try row.value(at: 0, as: String.self) }
            let indexes = ["timeline_pkey", "timeline_by_purchase", "timeline_by_time", "timeline_unpublished"]
            #expect(indexes.filter { index in plan.contains { $0.contains(index) } } == [index], "\(plan)")
            let scan = try #require(plan.firstIndex(where: { $0.contains(index) }))
            #expect(plan[scan + 1].contains("Index Cond: "), "\(plan)")
        }
    }
}
