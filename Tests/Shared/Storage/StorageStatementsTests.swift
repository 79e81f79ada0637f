import Postgres
import Storage
import TestSupport
import Testing

@Suite struct StorageStatementsTests {
    @Test func `the migrated schema accepts every statement`() async throws {
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            for statement in StorageStatements.all {
                await #expect(throws: Never.self, "\(statement.name ?? "?")") {
                    try await connection.prepare(statement)
                }
            }
        }
    }

    @Test func `no two statements share a name`() {
        #expect(Set(StorageStatements.all.map(\.name)).count == StorageStatements.all.count)
    }
}
