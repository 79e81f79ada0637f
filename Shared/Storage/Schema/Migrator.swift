import Postgres

/// Migrates the schema to the version of this build. Forward only.
///
/// All migrations run in one transaction under one advisory lock, so that several processes may try at once and a failed
/// migration leaves nothing behind.
public struct Migrator: Sendable {
    private let connection: PostgresConnection
    private let migrations: [Migration]

    /// Works on the schema the connection is configured for.
    public init(_ connection: PostgresConnection, migrations: [Migration] = Migration.all) {
        self.connection = connection
        self.migrations = migrations
    }

    /// Why the schema was not migrated, or is not the one that this build needs.
    public enum Failure: Error, Equatable, CustomStringConvertible {
        /// The file of a migration differs from the one that was applied.
        case changed(Int32, String)
        /// The migration of this number has another name: the schema is from before the first release.
        case otherSchema(Int32, found: String, known: String)
        /// A newer build has migrated the schema.
        case newer(Int32, known: Int32)
        case serverTooOld(String)
        /// Migrations of this build that were not applied.
        case missing([Int32])

        /// What failed, why, and what to do.
        public var description: String {
            switch self {
            case .changed(let version, let name):
                "this database was set up by another build, in which migration \(version) (\(name)) is not the same, so the tables may "
                    + "not be what this build needs. Run the release that set it up, or a later release; a build from changed "
                    + "sources needs an empty database, or this one after “drop schema … cascade”, then setup, and storekeeper "
                    + "offsets reset, which applies the records in Kafka again"
            case .otherSchema(let version, let found, let known):
                "the schema is from before the first release and cannot be migrated (its migration \(version) is “\(found)”, "
                    + "in this build “\(known)”). Keep running the build that set it up, or start over: stop all services, use an "
                    + "empty database (drop schema … cascade deletes customers, grants and API keys, too), run setup, then "
                    + "storekeeper offsets reset, which applies the records in Kafka again, and storekeeper backfill for "
                    + "older purchases"
            case .newer(let version, let known):
                "this database has migration \(version), but this build knows only \(known); use a build at least as new"
            case .serverTooOld(let version):
                "this database server is Postgres \(version); Postgres 15 or newer is needed"
            case .missing(let versions):
                "the schema lacks migrations of this build (\(versions.map(String.init).joined(separator: ", "))): "
                    + "run setup of the same build, and check that STOREKEEPER_DATABASE_SCHEMA names the same schema"
            }
        }
    }

    /// Applies the missing migrations.
    /// - Returns: the migrations applied, in order; empty where the schema was current.
    public func migrate() async throws -> [Migration] {
        // A reader of an earlier build may hold what a migration needs while it waits for what the migration holds.
        try await repeating { try await apply() }
    }

    private func apply() async throws -> [Migration] {
        try await connection.transaction { [migrations] transaction in
            // No timeout: another setup, or a migration of a big table, may take long.
            _ = try transaction.pipeline([
                Command(MigratorStatements.setting, "lock_timeout", "0"),
                Command(MigratorStatements.setting, "statement_timeout", "0"),
                Command(MigratorStatements.lock),
            ])
            let server = try transaction.execute(MigratorStatements.server)[0]
            guard try server.value("number", as: Int32.self) >= 150_000 else {
                throw Failure.serverTooOld(try server.value("version"))
            }
            try transaction.run(unsafeScript: MigratorStatements.ground)
            let missing = try Self.missing(
                of: migrations, digests: transaction.execute(MigratorStatements.digests, migrations.map(\.sql)),
                applied: transaction.execute(MigratorStatements.applied), acceptsNewer: false)
            // The state-updater reads this table first. Batches that wait here hold nothing that a migration needs, and a migration
            // that meets one in the middle would be the one that Postgres ends as deadlocked.
            if !missing.isEmpty { try transaction.run(unsafeScript: MigratorStatements.holdBatches) }
            for (migration, digest) in missing {
                try transaction.run(unsafeScript: String(decoding: migration.sql, as: UTF8.self))
                _ = try transaction.execute(MigratorStatements.record, migration.version, migration.name, digest)
            }
            try transaction.run(unsafeScript: MigratorStatements.close)
            return missing.map(\.migration)
        }
    }

    /// Checks that the migrations of this build were applied, as they are in this build.
    /// - Parameter acceptsNewer: whether migrations of a newer build are ignored, as by services while a release rolls out.
    ///
    /// - Throws: ``Failure``; otherwise `PostgresError`.
    public func check(acceptsNewer: Bool = true) async throws {
        guard try await connection.execute(MigratorStatements.isThere)[0].value("is_there") else {
            throw Failure.missing(migrations.map(\.version))
        }
        let rows = try await connection.pipeline([
            Command(MigratorStatements.digests, migrations.map(\.sql)), Command(MigratorStatements.applied),
        ])
        let missing = try Self.missing(
            of: migrations, digests: rows[0], applied: rows[1], acceptsNewer: acceptsNewer)
        guard missing.isEmpty else { throw Failure.missing(missing.map(\.migration.version)) }
    }

    /// The one comparison of this build's migrations with those of the database.
    private static func missing(
        of migrations: [Migration], digests: Rows, applied: Rows, acceptsNewer: Bool
    ) throws -> [(migration: Migration, digest: [UInt8])] {
        let digests = try digests.map { row in try row.value("digest", as: [UInt8].self) }
        var known = Dictionary(uniqueKeysWithValues: zip(migrations, digests).map { ($0.version, ($0, $1)) })
        // Names first: of a schema from before the first release the first migrations differ in their contents alone.
        for row in applied {
            let (version, name): (Int32, String) = (try row.value("version"), try row.value("name"))
            guard let migration = known[version]?.0, migration.name != name else { continue }
            throw Failure.otherSchema(version, found: name, known: migration.name)
        }
        var newer: Int32?
        for row in applied {
            let version: Int32 = try row.value("version")
            guard let (migration, digest) = known.removeValue(forKey: version) else {
                newer = newer ?? version
                continue
            }
            guard try row.value("digest") == digest else { throw Failure.changed(version, migration.name) }
        }
        if let newer, !acceptsNewer { throw Failure.newer(newer, known: migrations.map(\.version).max() ?? 0) }
        return known.values.map { (migration: $0.0, digest: $0.1) }.sorted {
            $0.migration.version < $1.migration.version
        }
    }
}

enum MigratorStatements {
    static let setting = Statement("migrator-setting", "select set_config($1::text, $2::text, true)")

    /// An arbitrary number that differs from other advisory locks in the same database.
    static let lock = Statement("migrator-lock", "select pg_advisory_xact_lock(7381420950213)")

    static let server = Statement(
        "migrator-server",
        "select current_setting('server_version_num')::integer as number, current_setting('server_version') as version")

    /// The schema named by `search_path` (checked to be one plain identifier), and our record of migrations in it.
    static let ground = """
        do $$
        begin
            if to_regnamespace(current_setting('search_path')) is null then
                execute format('create schema %I', current_setting('search_path'));
            end if;
            -- For this transaction, and for the functions made in it that keep their path: unnamed, the temporary tables of
            -- a caller would come before ours.
            perform set_config('search_path', current_setting('search_path') || ', pg_temp', true);
        end
        $$;
        create table if not exists schema_migration (
            version integer primary key,
            name text not null,
            digest bytea not null, -- SHA-256 of the file
            applied_at timestamptz not null default now()
        );
        """

    /// Where the schema is new, there is nothing to hold.
    static let holdBatches = """
        do $$
        begin
            if to_regclass('erased_account') is not null then
                lock table erased_account in access exclusive mode;
            end if;
        end;
        $$
        """

    /// Postgres lets every role execute a new function. This revokes that right from all functions of the schema, so that no
    /// migration has to; ``Grants`` gives it to single roles. Functions of extensions keep their privileges.
    static let close = """
        do $$
        declare
            routine regprocedure;
        begin
            for routine in
                select p.oid from pg_proc p
                where p.pronamespace = current_schema()::regnamespace and pg_has_role(p.proowner, 'usage')
                    and exists (
                        select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) where grantee = 0)
                    and not exists (
                        select from pg_depend d
                        where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
            loop
                execute format('revoke execute on function %s from public', routine);
            end loop;
        end
        $$
        """

    static let digests = Statement(
        "migrator-digests",
        """
        select sha256(sql) as digest
        from unnest($1::bytea[]) with ordinality as given (sql, place)
        order by place
        """)

    static let isThere = Statement(
        "migrator-is-there", "select to_regclass('schema_migration') is not null as is_there")

    static let applied = Statement(
        "migrator-applied", "select version, name, digest from schema_migration order by version")

    static let record = Statement(
        "migrator-record",
        "insert into schema_migration (version, name, digest) values ($1::integer, $2::text, $3::bytea)")

    static let all = [setting, lock, server, digests, isThere, applied, record]
}
