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
        /// Whoever asks may not make one.
        case forbidden(user: String, database: String)

        /// What happened and what to do, in one sentence.
        public var description: String {
            switch self {
            case .exists(let name):
                "the schema \(name) is there already, perhaps left by a rebuild that was cut off; "
                    + "drop it (drop schema \(name) cascade) or name another one"
            case .forbidden(let user, let database):
                "the user \(user) may not make a schema in the database \(database), which this needs: run it as the owner "
                    + "of the database, or let the owner say \"grant create on database \(database) to \(user)\" "
                    + "(to storekeeper_migrator for whoever has that role)"
            }
        }
    }

    /// - Parameter connection: configured for the new schema, without a timeout for statements.
    public init(named name: String, _ connection: PostgresConnection) {
        self.name = name
        self.connection = connection
    }

    /// Makes the schema and its tables, with what operators said about products: it decides about access.
    public func create(withProductsOf live: String) async throws {
        let found = try await connection.execute(Self.find, name)
        guard found.isEmpty else { throw Refusal.exists(name) }
        do {
            _ = try await Migrator(connection).migrate()
            let copy = Statement(
                unsafeSQL: """
                    insert into product (bundle_id, product_id, level, duration)
                    select bundle_id, product_id, level, duration
                    from \(Self.quoted(live)).product
                    """)
            _ = try await connection.execute(copy)
        } catch let error as PostgresError where error.meaning == .notPermitted && error.sqlState == "42501" {
            let who = try await connection.execute(Self.user)[0]
            throw Refusal.forbidden(user: try who.value("name"), database: try who.value("database"))
        }
    }

    /// Drops it with everything in it. Only of use for one that was made here.
    public func drop() async throws {
        try await connection.run(unsafeScript: "drop schema if exists \(Self.quoted(name)) cascade")
    }

    static func quoted(_ name: String) -> String {
        "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }

    static let user = Statement(
        "fresh-schema-user", "select current_user::text as name, current_database()::text as database")

    static let find = Statement("fresh-schema-find", "select nspname from pg_namespace where nspname = $1::text")
}
