import Foundation
import Postgres
import TestSupport
import Testing

@testable import Storage

/// The rights of every role over every table, column and function, as Postgres answers them, compared with the list that people
/// read. A new table, column, function or grant changes the list, and a reviewer sees for which role.
@Suite(.hangLimit) struct PrivilegeMatrixTests {
    private static let list = URL(filePath: #filePath).appending(
        path: "../../../../../Shared/Storage/Storage.docc/Privileges.md"
    ).standardized

    /// `WRITE_PRIVILEGES=1 swift test --filter PrivilegeMatrixTests` writes the list.
    @Test func `Roles have the rights that Privileges.md lists, and no others`() async throws {
        try await TestDatabase.connected { owner async throws in
            _ = try await Grants(owner).apply()
            let roles = Grants.Role.allCases.filter { $0 != .migrator }.map(\.rawValue)
            let rows = try await owner.execute(Self.rights, roles).map { row in try row.value("line", as: String.self) }
            await owner.close()
            let found = Set(rows)
            #expect(found.count == rows.count && rows.count > 300)
            if ProcessInfo.processInfo.environment["WRITE_PRIVILEGES"] != nil {
                try (Self.heading + rows.joined(separator: "\n") + "\n```\n").write(
                    to: Self.list, atomically: true, encoding: .utf8)
            }
            let text = try String(contentsOf: Self.list, encoding: .utf8)
            let listed = Set(text.split(separator: "\n").map(String.init).filter { $0.hasPrefix("storekeeper_") })
            #expect(found.subtracting(listed).sorted() == [], "not in the list")
            #expect(listed.subtracting(found).sorted() == [], "in the list alone")
        }
    }

    private static let heading = """
        # Privileges

        What each database role may do: role, object, privilege, and for tables the columns, where it is not all of them (`*`, later
        columns included). The test `PrivilegeMatrixTests` writes this list from a migrated database and fails where they differ.
        `storekeeper_migrator` owns everything. No role may create anything, and none but these has any privilege.

        ```

        """

    /// Effective rights, however a role got them. Functions of extensions are left out: they read and write no table.
    private static let rights = Statement(
        "test-rights",
        """
        with role as (
            select oid, rolname from pg_roles where rolname = any ($1::text[])
        ), relation as (
            select oid, relname from pg_class
            where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v', 'm', 'f')
        ), by_column as (
            select rolname, relname, privilege,
                bool_and(may) as is_all, string_agg(attname, ',' order by attname) filter (where may) as columns,
                has_table_privilege(rolname, relid, privilege) as is_table
            from (
                select rolname, relname, relation.oid as relid, attname, privilege,
                    has_column_privilege(role.oid, relation.oid, attnum, privilege) as may
                from role cross join relation
                join pg_attribute on attrelid = relation.oid and attnum > 0 and not attisdropped
                cross join unnest(array['select', 'insert', 'update', 'references']) as privilege
            ) as cell
            group by rolname, relname, relid, privilege
            having bool_or(may)
        )
        select format(
            '%s table %s %s %s', rolname, relname, privilege, case when is_all and is_table then '*' else columns end) as line
        from by_column
        union all
        select format('%s table %s %s *', rolname, relname, privilege)
        from role cross join relation cross join unnest(array['delete', 'truncate', 'trigger']) as privilege
        where has_table_privilege(role.oid, relation.oid, privilege)
        union all
        select format('%s sequence %s %s', rolname, relname, privilege)
        from role
        cross join pg_class sequence
        cross join unnest(array['usage', 'select', 'update']) as privilege
        where relnamespace = current_schema()::regnamespace and relkind = 'S'
            and has_sequence_privilege(role.oid, sequence.oid, privilege)
        union all
        select format('%s function %s(%s) execute', rolname, proname, pg_get_function_identity_arguments(routine.oid))
        from role cross join pg_proc routine
        where pronamespace = current_schema()::regnamespace and has_function_privilege(role.oid, routine.oid, 'execute')
            and not exists (
                select from pg_depend where objid = routine.oid and classid = 'pg_proc'::regclass and deptype = 'e')
        union all
        select format('%s large-objects %s', rolname, routine.oid::regprocedure)
        from role cross join pg_proc routine
        where pronamespace = 'pg_catalog'::regnamespace and proname in ('lo_creat', 'lo_create', 'lo_from_bytea')
            and has_function_privilege(role.oid, routine.oid, 'execute')
        union all
        select format('%s schema %s', rolname, privilege)
        from role cross join unnest(array['usage', 'create']) as privilege
        where has_schema_privilege(role.oid, current_schema()::regnamespace::oid, privilege)
        union all
        select format('%s database %s', rolname, privilege)
        from role cross join unnest(array['create', 'temporary']) as privilege
        where has_database_privilege(role.oid, current_database(), privilege)
        order by line
        """)
}
