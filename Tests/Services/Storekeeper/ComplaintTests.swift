import TestSupport
import Testing

@testable import Postgres
@testable import Storekeeper

struct ComplaintTests {
    @Test func `a mistake that is found while a verb runs shows the usage of that verb`() async {
        let outcome = await CommandOutcome.of(
            ["rejected", "list", "--from", "1h", "--to", "2h"], environment: ["KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1"])
        #expect(outcome.code == 64)
        #expect(outcome.complaint.hasPrefix("Error: --to has to lie after --from"))
        #expect(outcome.complaint.contains("Usage: storekeeper rejected list ["), "\(outcome.complaint)")
        #expect(outcome.complaint.hasSuffix("See 'storekeeper rejected list --help' for more information."))
    }

    @Test func `what is wrong with the variables is said without any usage`() async {
        let outcome = await CommandOutcome.of(["trail"])
        #expect(outcome.code == 78)
        #expect(outcome.complaint.hasPrefix("Error: The configuration has 1 problem"))
        #expect(!outcome.complaint.contains("Usage"))
    }

    @Test func `a schema without tables, and a right that is lacking, are said with what to do`() async throws {
        try await TestDatabase.use { database async throws in
            let outcome = await CommandOutcome.of(["trail", "--schema", "nosuch"], environment: database.environment)
            #expect(outcome.code == 1)
            #expect(outcome.complaint.contains("[SQLSTATE 42P01]"), "\(outcome.complaint)")
            #expect(outcome.complaint.contains("has storekeeper setup run on this database"))
        }
        let refused = PostgresError(.notPermitted, sqlState: "42501", "permission denied for table operator_action")
        #expect(refused.advised.contains("storekeeper_scheduler"))
        #expect(Complaint(refused, of: Trail.self)?.text.contains("storekeeper_scheduler") == true)
    }

    @Test func `a broker that does not answer is named, with what to look at`() async {
        let outcome = await CommandOutcome.of(
            ["reread"],
            environment: ["KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1", "DATABASE_URL": "postgres://127.0.0.1:1/none"])
        #expect(outcome.code == 1)
        #expect(outcome.complaint.contains("127.0.0.1:1"), "\(outcome.complaint)")
        #expect(outcome.complaint.contains("is KAFKA_BOOTSTRAP_SERVERS right"))
    }
}
