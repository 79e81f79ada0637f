import Postgres
import Storage
import TestSupport
import Testing

@Suite struct StorageStatementsTests {
    @Test func `The migrated schema accepts every statement`() async throws {
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            for statement in StorageStatements.all {
                await #expect(throws: Never.self, "\(statement.name ?? "?")") {
                    try await connection.prepare(statement)
                }
            }
        }
    }

    @Test func `Statements have different names`() {
        #expect(Set(StorageStatements.all.map(\.name)).count == StorageStatements.all.count)
    }
}
