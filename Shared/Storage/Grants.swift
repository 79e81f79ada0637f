import Postgres

/// The database roles and what each may do, from `Migrations/grants.sql`.
public struct Grants: Sendable {
    private let connection: PostgresConnection

    /// Works on the schema the connection is configured for.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// The roles, least first.
    public static let roles = [
        "storekeeper_reader", "storekeeper_scheduler", "storekeeper_worker", "storekeeper_migrator",
    ]

    /// Makes the roles as far as the user may, and grants. Everything or nothing; repeating it changes nothing.
    /// - Returns: the roles that are still missing because this user may not create any.
    public func apply() async throws -> [String] {
        let script = String(decoding: PackageResources.grants_sql, as: UTF8.self)
        return try await connection.transaction { transaction in
            // One setup at a time, also beside a migration.
            _ = try transaction.pipeline([
                Command(MigratorStatements.setting, "lock_timeout", "0"), Command(MigratorStatements.lock),
            ])
            try transaction.run(unsafeScript: script)
            return try transaction.execute(Self.missing, Self.roles).map { row in try row.value("role") }
        }
    }

    static let missing = Statement(
        "grants-missing", "select role from unnest($1::text[]) as given (role) where to_regrole(role) is null")
}
