import Postgres

/// Compares the privileges in the database with those of ``Grants`` and names every further one.
public struct PrivilegeAudit: Sendable {
    /// One privilege beyond ``Grants``.
    public struct Finding: Sendable, Equatable, CustomStringConvertible {
        /// The privilege, for example `PUBLIC may execute function drop_payload_month(text)`.
        public var problem: String
        /// The statement that revokes it, for the owner of the object or an administrator.
        public var remedy: String

        /// The privilege and the statement that revokes it, in one line.
        public var description: String { "\(problem); run: \(remedy)" }
    }

    private let connection: PostgresConnection

    /// Works on the schema the connection is configured for.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// All privileges beyond ``Grants``, in a stable order; empty where there are none.
    public func findings() async throws -> [Finding] {
        try await connection.execute(Self.open).map { row in
            Finding(problem: try row.value("problem"), remedy: try row.value("remedy"))
        }
    }

    /// A `security definer` function is safe only if its caller cannot choose the meaning of a name in it (`search_path` is
    /// this schema and then `pg_temp`; Postgres searches `pg_catalog` first) and only the intended roles may execute it.
    /// Functions of extensions are not checked.
    private static let limitedRoles = Grants.Role.allCases.filter { $0 != .migrator }.map { "'\($0.rawValue)'" }
        .joined(separator: ", ")

    static let open = Statement(
        "privileges-open",
        unsafeSQL: """
            with routine as (
                select p.oid, p.proname, p.oid::regprocedure::text as name, p.prosecdef,
                    coalesce(p.proacl, acldefault('f', p.proowner)) as acl,
                    coalesce((select array_agg(setting) from unnest(p.proconfig) setting where setting ~ '^search_path='),
                        '{}') as paths
                from pg_proc p
                where p.pronamespace = current_schema()::regnamespace
                    and not exists (
                        select from pg_depend d
                        where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
            ), relation as (
                select c.oid::regclass::text as name, coalesce(c.relacl, acldefault('r', c.relowner)) as acl
                from pg_class c
                where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f')
            ), role as (
                select oid, rolname, rolsuper, rolcreaterole, rolcreatedb, rolbypassrls, rolreplication
                from pg_roles where rolname in (\(limitedRoles))
            )
            select 'PUBLIC may execute function ' || name as problem,
                'revoke execute on function ' || name || ' from public' as remedy
            from routine where exists (select from aclexplode(acl) where grantee = 0)
            union all
            select 'security definer function ' || name || ' takes names from its caller''s search_path',
                'alter function ' || name || ' set search_path = ' || quote_ident(current_schema()) || ', pg_temp'
            from routine
            where prosecdef and paths <> array['search_path=' || quote_ident(current_schema()) || ', pg_temp']
            union all
            select role.rolname || ' may execute security definer function ' || name,
                'revoke execute on function ' || name || ' from ' || role.rolname
            from routine cross join role
            where prosecdef and has_function_privilege(role.oid, routine.oid, 'execute')
                and not (
                    case
                        when proname in ('make_payload_months', 'copy_payload_rest', 'drop_payload_month')
                            then rolname in ('storekeeper_scheduler', 'storekeeper_operator')
                        when proname in ('is_account_known', 'lock_erasures', 'erase_account', 'sweep_unswept_account')
                            then rolname in ('storekeeper_operator', 'storekeeper_api', 'storekeeper_console')
                        when proname in ('blocked_sessions', 'oldest_writer')
                            then rolname not in ('storekeeper_api', 'storekeeper_analyst')
                        when proname = 'set_product_durations' then rolname in ('storekeeper_operator', 'storekeeper_api')
                        when proname in ('make_webhook_days', 'drop_webhook_days', 'relayed_originals')
                            then rolname = 'storekeeper_webhooks'
                        else false
                    end)
            union all
            select 'PUBLIC has privileges on ' || name, 'revoke all on ' || name || ' from public'
            from relation where exists (select from aclexplode(acl) where grantee = 0)
            union all
            select 'PUBLIC may create objects in schema ' || nspname, format('revoke create on schema %I from public', nspname)
            from pg_namespace
            where oid = current_schema()::regnamespace
                and exists (
                    select from aclexplode(coalesce(nspacl, acldefault('n', nspowner)))
                    where grantee = 0 and privilege_type = 'CREATE')
            union all
            select 'PUBLIC may ' || case privilege_type when 'CREATE' then 'create schemas' else 'create temporary tables' end
                || ' in database ' || datname,
                format('revoke %s on database %I from public', lower(privilege_type), datname)
            from pg_database cross join aclexplode(coalesce(datacl, acldefault('d', datdba)))
            where datname = current_database() and grantee = 0 and privilege_type in ('CREATE', 'TEMPORARY')
            union all
            select 'new ' || case defaclobjtype when 'f' then 'functions' when 'r' then 'tables' else 'objects' end
                || ' of ' || pg_get_userbyid(defaclrole) || ' are granted to PUBLIC',
                'alter default privileges for role ' || quote_ident(pg_get_userbyid(defaclrole)) || ' … revoke'
            from pg_default_acl
            where defaclnamespace = current_schema()::regnamespace
                and exists (select from aclexplode(defaclacl) where grantee = 0)
            union all
            select rolname || ' may create objects in schema ' || current_schema(),
                format('revoke create on schema %I from %I', current_schema(), rolname)
            from role where has_schema_privilege(oid, current_schema(), 'create') and not rolsuper
            union all
            select rolname || ' has rights over the whole server', format(
                'alter role %I nosuperuser nocreaterole nocreatedb nobypassrls noreplication', rolname)
            from role where rolsuper or rolcreaterole or rolcreatedb or rolbypassrls or rolreplication
            order by problem
            """)
}
