import Postgres
import Storage

/// Everything in the database as text, to be compared.
struct DatabaseContents {
    let text: String

    init(_ console: RunningConsole) async throws {
        text = try await console.withOwner { connection in
            let tables = try await connection.execute(Self.tables).map { row in
                try row.value("name", as: String.self)
            }
            var text = ""
            for table in tables {
                let statement = Statement(
                    unsafeSQL: "select coalesce(string_agg(t::text, ' ' order by t::text), '') as rows from \(table) t")
                text += "\(table): \(try await connection.execute(statement)[0].value("rows", as: String.self))\n"
            }
            return text
        }
    }

    private static let tables = Statement(
        "test-console-tables",
        """
        select oid::regclass::text as name from pg_class
        where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') order by 1
        """)
}
