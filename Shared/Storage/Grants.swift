import Postgres

/// The database roles and what each may do, from `Migrations/grants.sql`.
public struct Grants: Sendable {
    private let connection: PostgresConnection

    /// Works on the schema the connection is configured for.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// What a database user is given to do one kind of work.
    public enum Role: String, Sendable, Hashable, CaseIterable {
        /// Sees everything.
        case reader = "storekeeper_reader"
        /// The scheduler's, and for what an operator puts in motion.
        case scheduler = "storekeeper_scheduler"
        /// For deduplicator, state-updater and recovery.
        case worker = "storekeeper_worker"
        /// Owns everything.
        case migrator = "storekeeper_migrator"
    }

    /// Those as which this user may act (`set role`): all that there are for a superuser, else those it was given.
    public func available() async throws -> Set<Role> {
        Set(
            try await connection.execute(Self.settable, Role.allCases.map(\.rawValue))
                .compactMap { row in Role(rawValue: try row.value("role")) })
    }

    /// Makes the roles as far as the user may, and grants. Everything or nothing; repeating it changes nothing.
    /// - Returns: the roles that are still missing because this user may not create any.
    public func apply() async throws -> [Role] {
        let script = String(decoding: PackageResources.grants_sql, as: UTF8.self)
        return try await connection.transaction { transaction in
            // One setup at a time, also beside a migration.
            _ = try transaction.pipeline([
                Command(MigratorStatements.setting, "lock_timeout", "0"), Command(MigratorStatements.lock),
            ])
            try transaction.run(unsafeScript: script)
            return try transaction.execute(Self.missing, Role.allCases.map(\.rawValue))
                .compactMap { row in Role(rawValue: try row.value("role")) }
        }
    }

    static let missing = Statement(
        "grants-missing", "select role from unnest($1::text[]) as given (role) where to_regrole(role) is null")

    /// Since Postgres 16 a member of a role need not be allowed to become it.
    static let settable = Statement(
        "grants-settable",
        """
        select rolname::text as role from pg_roles
        where rolname = any ($1::text[])
            and pg_has_role(
                oid, case when current_setting('server_version_num')::integer < 160000 then 'member' else 'set' end)
        """)
}
