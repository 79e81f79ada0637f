import Postgres

/// The database roles and their privileges, from `Migrations/grants.sql`.
public struct Grants: Sendable {
    private let connection: PostgresConnection

    /// Works on the schema the connection is configured for.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// The database roles, one for each kind of work.
    public enum Role: String, Sendable, Hashable, CaseIterable {
        /// Reads every table but secrets.
        case reader = "storekeeper_reader"
        /// For the scheduler.
        case scheduler = "storekeeper_scheduler"
        /// For operators' commands: may make API keys and sign-in links.
        case `operator` = "storekeeper_operator"
        /// For the API service: reads the tables of its answers, writes its own tables.
        case api = "storekeeper_api"
        /// For the console: reads what it shows, writes its own tables, grants, and requests that other services carry out.
        case console = "storekeeper_console"
        /// For the deduplicator.
        case deduplicator = "storekeeper_deduplicator"
        /// For the state-updater.
        case stateUpdater = "storekeeper_state_updater"
        /// For recovery.
        case recovery = "storekeeper_recovery"
        /// For the service that sends webhooks.
        case webhooks = "storekeeper_webhooks"
        /// For people and dashboards that look at figures: sees no account and no payload.
        case analyst = "storekeeper_analyst"
        /// Owns everything.
        case migrator = "storekeeper_migrator"
    }

    /// The roles that this user may assume (`set role`): all existing ones for a superuser, else those granted to it.
    public func available() async throws -> Set<Role> {
        Set(
            try await connection.execute(Self.settable, Role.allCases.map(\.rawValue))
                .compactMap { row in Role(rawValue: try row.value("role")) })
    }

    /// Creates the roles if the user may, and grants the privileges, in one transaction. Idempotent.
    /// - Returns: the roles that are still missing because this user may not create roles.
    public func apply() async throws -> [Role] {
        let script = String(decoding: PackageResources.grants_sql, as: UTF8.self)
        return try await connection.transaction { transaction in
            // One setup or migration at a time.
            _ = try transaction.pipeline([
                Command(MigratorStatements.setting, "lock_timeout", "0"), Command(MigratorStatements.lock),
            ])
            try transaction.run(unsafeScript: script)
            return try transaction.execute(Self.missing, Role.allCases.map(\.rawValue))
                .compactMap { row in Role(rawValue: try row.value("role")) }
        }
    }

    /// The changes that ``apply()`` would make, one sentence each; they are rolled back.
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
                let after = try privileges()
                // Services make partitions between two setups. Those need no privileges: Postgres checks the parent's.
                let bare = before.filter { $0.hasPrefix("partition ") && $1.isEmpty }.keys
                let changed = Set(before.keys).union(after.keys).subtracting(bare)
                    .filter { (before[$0] ?? "") != (after[$0] ?? "") }.sorted()
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
            select case when c.relispartition then 'partition ' else 'table ' end || c.oid::regclass::text as name,
                c.relacl as acl
            from pg_class c
            where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
            union all
            select 'column ' || c.oid::regclass::text || '.' || a.attname, a.attacl
            from pg_class c join pg_attribute a on a.attrelid = c.oid
            where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f')
                and a.attacl is not null and not a.attisdropped
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

    /// Since Postgres 16 membership of a role does not imply the right to assume it.
    static let settable = Statement(
        "grants-settable",
        """
        select rolname::text as role from pg_roles
        where rolname = any ($1::text[])
            and pg_has_role(
                oid, case when current_setting('server_version_num')::integer < 160000 then 'member' else 'set' end)
        """)
}
