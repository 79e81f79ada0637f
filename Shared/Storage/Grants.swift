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
        /// The API service's: reads what its answers are made of, writes its own tables.
        case api = "storekeeper_api"
        /// The deduplicator's.
        case deduplicator = "storekeeper_deduplicator"
        /// The state-updater's.
        case stateUpdater = "storekeeper_state_updater"
        /// Recovery's.
        case recovery = "storekeeper_recovery"
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

    /// What ``apply()`` would change, one sentence each; everything is rolled back.
    public func differences() async throws -> [String] {
        struct RolledBack: Error { var differences: [String] }
        let script = String(decoding: PackageResources.grants_sql, as: UTF8.self)
        do {
            return try await connection.transaction { transaction -> [String] in
                _ = try transaction.pipeline([
                    Command(MigratorStatements.setting, "lock_timeout", "0"), Command(MigratorStatements.lock),
                ])
                func privileges() throws -> [String: String] {
                    Dictionary(
                        uniqueKeysWithValues: try transaction.execute(Self.privileges)
                            .map { row in (try row.value("name"), try row.value("privileges")) })
                }
                let missing: [String] = try transaction.execute(Self.missing, Role.allCases.map(\.rawValue))
                    .map { row in "role \(try row.value("role", as: String.self)) is missing" }
                let before = try privileges()
                try transaction.run(unsafeScript: script)
                let changed = try privileges().filter { before[$0.key] != $0.value }.keys.sorted()
                throw RolledBack(differences: missing + changed.map { "privileges of \($0) differ" })
            }
        } catch let end as RolledBack {
            return end.differences
        }
    }

    static let privileges = Statement(
        "grants-privileges",
        """
        with object as (
            select 'table ' || c.oid::regclass::text as name, c.relacl as acl
            from pg_class c
            where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
            union all
            select 'function ' || p.oid::regprocedure::text, p.proacl
            from pg_proc p where p.pronamespace = current_schema()::regnamespace
            union all
            select 'schema ' || n.nspname::text, n.nspacl from pg_namespace n where n.nspname = current_schema()
        )
        select name,
            coalesce((select string_agg(item::text, ' ' order by item::text) from unnest(acl) item), '') as privileges
        from object order by name
        """)

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
