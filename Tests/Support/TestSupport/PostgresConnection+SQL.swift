import Postgres

extension PostgresConnection {
    /// Runs one statement that only a test needs.
    public func execute(
        unsafeSQL sql: String, _ parameters: any PostgresParameter...
    ) throws(PostgresError) -> Rows {
        try pipeline([Command(Statement(unsafeSQL: sql), all: parameters)])[0]
    }
}
