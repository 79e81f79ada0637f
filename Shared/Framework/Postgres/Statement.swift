/// One SQL statement, written once, prepared once per connection and found by its name in the server's own views.
public struct Statement: Sendable, Hashable {
    /// Name of the prepared statement; nil is sent unprepared.
    public let name: String?
    /// The text sent to the server.
    public let sql: String

    /// - Parameters:
    ///   - name: unique among the statements of a process; two statements of one name are a programming error that
    ///     the connection reports.
    ///   - sql: a constant by type, so that nothing a user sent can become SQL. Values are `$1`, `$2`, ….
    public init(_ name: StaticString, _ sql: StaticString) {
        self.init(name, unsafeSQL: "\(sql)")
    }

    /// SQL that is put together from constants of the program, such as lists of columns. A user's words must never get
    /// here.
    public init(_ name: StaticString, unsafeSQL sql: String) {
        self.name = "\(name)"
        self.sql = sql
    }

    /// A statement that is not known when the program is built, such as one typed by an operator. It is not prepared.
    public init(unsafeSQL sql: String) {
        self.name = nil
        self.sql = sql
    }
}

/// A statement and its values, for `pipeline`.
public struct Command: Sendable {
    /// What is run.
    public let statement: Statement
    let parameters: [any PostgresParameter]

    /// Values are `$1`, `$2`, … in this order.
    public init(_ statement: Statement, _ parameters: any PostgresParameter...) {
        self.statement = statement
        self.parameters = parameters
    }

    /// For statements with so many values that they are better gathered than listed.
    public init(_ statement: Statement, all parameters: [any PostgresParameter]) {
        self.statement = statement
        self.parameters = parameters
    }
}
