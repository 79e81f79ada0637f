import Postgres

/// A schema of our tables, empty, beside the live one in the same database.
public struct FreshSchema: Sendable {
    /// Its name.
    public let name: String
    private let connection: PostgresConnection

    /// Why the schema was not made.
    public enum Refusal: Error, Equatable, CustomStringConvertible {
        /// Somebody may need what is in it.
        case exists(String)

        /// What happened and what to do, in one sentence.
        public var description: String {
            switch self {
            case .exists(let name):
                "the schema \(name) is there already, perhaps left by a rebuild that was cut off; "
                    + "drop it (drop schema \(name) cascade) or name another one"
            }
        }
    }

    /// - Parameter connection: configured for the new schema, without a timeout for statements.
    public init(named name: String, _ connection: PostgresConnection) {
        self.name = name
        self.connection = connection
    }

    /// Makes the schema and its tables.
    public func create() async throws {
        let found = try await connection.execute(Self.find, name)
        guard found.isEmpty else { throw Refusal.exists(name) }
        _ = try await Migrator(connection).migrate()
    }

    /// Drops it with everything in it. Only of use for one that was made here.
    public func drop() async throws {
        try await connection.run(unsafeScript: "drop schema if exists \(Self.quoted(name)) cascade")
    }

    static func quoted(_ name: String) -> String {
        "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }

    static let find = Statement("fresh-schema-find", "select nspname from pg_namespace where nspname = $1::text")
}
