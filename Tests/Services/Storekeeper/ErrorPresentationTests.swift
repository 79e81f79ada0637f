import Commands
import TestSupport
import Testing

@testable import Postgres
@testable import Storekeeper

struct ErrorPresentationTests {
    @Test func `Mistake that is found while a verb runs shows the usage of that verb`() async {
        let outcome = await CommandOutcome.of(
            ["dead-letters", "list", "--from", "1h", "--to", "2h"],
            environment: ["KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1"])
        #expect(outcome.code == 64)
        #expect(outcome.errorOutput.hasPrefix("Error: --to "))
        #expect(outcome.errorOutput.contains("Usage: storekeeper dead-letters list ["), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.hasSuffix("See 'storekeeper dead-letters list --help' for more information."))
    }

    @Test func `ErrorPresentation shows no usage for mistakes in variables`() async {
        let outcome = await CommandOutcome.of(["audit"])
        #expect(outcome.code == 78)
        #expect(outcome.errorOutput.hasPrefix("Error: The configuration has 1 problem"))
        #expect(!outcome.errorOutput.contains("Usage"))
    }

    @Test func `Schema without tables, and a right that is lacking, are said with what to do`() async throws {
        try await TestDatabase.use { database async throws in
            let outcome = await database.run(["audit", "--schema", "nosuch"])
            #expect(outcome.code == 1)
            #expect(outcome.errorOutput.contains("[SQLSTATE 42P01]"), "\(outcome.errorOutput)")
            #expect(outcome.errorOutput.contains("setup has run on this database"))
        }
        let rejected = PostgresError(.notPermitted, sqlState: "42501", "permission denied for table operator_action")
        #expect(rejected.messageWithHint.contains("storekeeper_operator"))
        #expect(
            ErrorPresentation(rejected, of: Audit.self, in: CommandLineTool.self)?.text.contains("storekeeper_operator")
                == true)
    }

    @Test func `Broker that does not answer is named, with what to look at`() async {
        let outcome = await CommandOutcome.of(
            ["offsets", "reset"],
            environment: ["KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1", "DATABASE_URL": "postgres://127.0.0.1:1/none"])
        #expect(outcome.code == 1)
        #expect(outcome.errorOutput.contains("127.0.0.1:1"), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("check KAFKA_BOOTSTRAP_SERVERS"))
    }
}
