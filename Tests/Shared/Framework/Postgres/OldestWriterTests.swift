import Postgres
import TestSupport
import Testing

@Suite struct OldestWriterTests {
    @Test func `The name of a prepared transaction ends no quotation in the statement that ends it`() async throws {
        try await TestDatabase.use(isMigrated: false) { database async throws in
            let connection = TestDatabase.connection(database)
            let row = try await connection.execute(
                unsafeSQL: """
                    select 0::integer as process, U&'x''\\0301; drop table t; --' as prepared, 'ann' as user_name,
                        'reports' as database_name, null::text as application, null::timestamptz as connected_at,
                        null::timestamptz as since, null::double precision as age, null::text as statement
                    """)[0]
            #expect(
                try OldestWriter(row).remedy
                    == "in its database: rollback prepared 'x''\u{301}; drop table t; --'")
            await connection.close()
        }
    }
}
