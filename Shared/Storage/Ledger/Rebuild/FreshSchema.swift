import Postgres

/// A temporary schema with empty tables, beside the live schema in the same database.
public struct FreshSchema: Sendable {
    /// The name of the schema.
    public let name: String
    private let connection: PostgresConnection

    /// Why the schema was not created.
    public enum Failure: Error, Equatable, CustomStringConvertible {
        /// A schema of this name exists; it may hold data.
        case exists(String)
        /// The user may not create schemas.
        case forbidden(user: String, database: String)

        /// What failed, why, and what to do.
        public var description: String {
            switch self {
            case .exists(let name):
                "the schema \(name) exists already, perhaps from an interrupted rebuild; "
                    + "drop it (drop schema \(name) cascade) or name another one"
            case .forbidden(let user, let database):
                "the user \(user) may not create a schema in the database \(database): run the command as the owner "
                    + "of the database, or let the owner run \"grant create on database \(database) to \(user)\" "
                    + "(or to storekeeper_migrator, if the user has that role)"
            }
        }
    }

    /// - Parameter connection: configured for the new schema, without a timeout for statements.
    public init(named name: String, _ connection: PostgresConnection) {
        self.name = name
        self.connection = connection
    }

    /// Creates the schema and its tables, and copies what affects the state beside notifications: the operators' settings of
    /// products, and the accounts that were erased.
    public func create(withSettingsOf live: String) async throws {
        let found = try await connection.execute(Self.find, name)
        guard found.isEmpty else { throw Failure.exists(name) }
        do {
            _ = try await Migrator(connection).migrate()
            let copy = Statement(
                unsafeSQL: """
                    insert into product (bundle_id, product_id, level, duration)
                    select bundle_id, product_id, level, duration
                    from \(Self.quoted(live)).product
                    """)
            _ = try await connection.execute(copy)
            let erased = Statement(
                unsafeSQL: """
                    insert into erased_account (
                        erased_at, topics_until, purchases, payloads, id, environment, is_complete, digest, bundle_id,
                        detached_purchases)
                    select erased_at, topics_until, purchases, payloads, id, environment::text::store_environment,
                        is_complete, digest, bundle_id, detached_purchases
                    from \(Self.quoted(live)).erased_account
                    """)
            _ = try await connection.execute(erased)
        } catch let error as PostgresError where error.meaning == .notPermitted && error.sqlState == "42501" {
            let who = try await connection.execute(Self.user)[0]
            throw Failure.forbidden(user: try who.value("name"), database: try who.value("database"))
        }
    }

    /// Drops the schema with everything in it. Call it only for a schema that ``create(withSettingsOf:)`` has created.
    public func drop() async throws {
        try await connection.run(unsafeScript: "drop schema if exists \(Self.quoted(name)) cascade")
    }

    static func quoted(_ name: String) -> String { name.quoted(by: "\"", within: "\"\"") }

    static let user = Statement(
        "fresh-schema-user", "select current_user::text as name, current_database()::text as database")

    static let find = Statement("fresh-schema-find", "select nspname from pg_namespace where nspname = $1::text")
}
