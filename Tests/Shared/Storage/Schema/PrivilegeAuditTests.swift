import Postgres
import TestSupport
import Testing

@testable import Storage

/// The audit reads the catalogue, so that it covers functions, tables and roles of later migrations without further tests.
@Suite(.hangLimit) struct PrivilegeAuditTests {
    @Test(arguments: ["public", "storekeeper"])
    func `Setup leaves no privilege open`(schema: String) async throws {
        try await TestDatabase.use(isMigrated: false) { database async throws in
            var configuration = database
            configuration.schema = schema
            let owner = TestDatabase.connection(configuration)
            _ = try await Migrator(owner).migrate()
            _ = try await Grants(owner).apply()
            #expect(try await PrivilegeAudit(owner).findings() == [])
            await owner.close()
        }
    }

    @Test func `Migrator leaves no function to PUBLIC, whether or not roles can be granted anything`() async throws {
        try await TestDatabase.connected { owner async throws in
            let findings = try await PrivilegeAudit(owner).findings()
            #expect(findings.filter { $0.problem.contains("function") } == [])
        }
    }

    @Test(arguments: [
        (
            "create function careless() returns void language sql as ''",
            "PUBLIC may execute function careless()"
        ),
        (
            "create function careless() returns void language sql security definer set search_path = public as ''",
            "security definer function careless() takes names from its caller's search_path"
        ),
        (
            "create function careless() returns void language sql security definer as ''",
            "security definer function careless() takes names from its caller's search_path"
        ),
        (
            "grant execute on function drop_payload_month(text) to storekeeper_reader",
            "storekeeper_reader may execute security definer function drop_payload_month(text)"
        ),
        ("grant select on subscription to public", "PUBLIC has privileges on subscription"),
        ("grant create on schema public to public", "PUBLIC may create objects in schema public"),
        (
            "grant create on schema public to storekeeper_recovery",
            "storekeeper_recovery may create objects in schema public"
        ),
        (
            "alter default privileges in schema public grant select on tables to public",
            "new tables of postgres are granted to PUBLIC"
        ),
    ])
    func `Audit names what was opened`(statement: String, problem: String) async throws {
        try await GrantsTests.withGrants { _, owner in
            // The superuser's name differs from server to server.
            let user = try await owner.execute(FreshSchema.user)[0].value("name", as: String.self)
            try await owner.run(unsafeScript: statement)
            let problems = try await PrivilegeAudit(owner).findings().map(\.problem)
            #expect(problems.contains(problem.replacing("of postgres", with: "of \(user)")), "\(problems)")
        }
    }

    @Test func `Remedy of each finding closes it`() async throws {
        try await GrantsTests.withGrants { _, owner in
            try await owner.run(
                unsafeScript: """
                    create function careless() returns void language sql security definer as '';
                    grant select on subscription to public;
                    grant create on schema public to public, storekeeper_reader;
                    do $$ begin execute format('grant all on database %I to public', current_database()); end $$;
                    """)
            let findings = try await PrivilegeAudit(owner).findings()
            #expect(findings.count >= 6)
            for finding in findings { try await owner.run(unsafeScript: finding.remedy) }
            #expect(try await PrivilegeAudit(owner).findings() == [])
        }
    }

    // MARK: The attacks

    @Test func `Reader cannot become the owner by temporary tables of the same names`() async throws {
        try await GrantsTests.withGrants { database, owner in
            // As if an administrator had granted the other two privileges: each protection must hold by itself.
            try await owner.run(
                unsafeScript: """
                    do $$ begin execute format('grant temporary on database %I to storekeeper_reader', current_database()); end $$;
                    grant execute on all functions in schema public to storekeeper_reader;
                    insert into notification_payload (recorded_at, notification_uuid, decoded, signed_original, chains)
                    values ('2031-01-15', gen_random_uuid(), '{}', '', '{}');
                    """)
            try await GrantsTests.acting(as: Grants.Role.reader.rawValue, in: database) { reader in
                try await reader.run(unsafeScript: Self.snare)
                for call in [
                    "select copy_payload_rest('2031-01-01', '-infinity', '00000000-0000-0000-0000-000000000000', 10)",
                    "select make_payload_months('{2031-01-01}')",
                ] {
                    // Whether it does its work or fails does not matter here.
                    _ = try? await reader.run(unsafeScript: call)
                }
            }
            let gained = try await owner.execute(Self.gained).map { row in try row.value("name", as: String.self) }
            #expect(gained == [])
        }
    }

    @Test func `Only the scheduler and operators may make and drop months`() async throws {
        try await GrantsTests.withGrants { database, owner in
            try await owner.run(unsafeScript: "select make_payload_months('{2020-01-01}')")
            for role in [Grants.Role.reader, .recovery] {
                try await GrantsTests.acting(as: role.rawValue, in: database) { connection in
                    for call in [
                        "select drop_payload_month('notification_payload_2020_01')",
                        "select make_payload_months('{2020-02-01}')",
                        "select copy_payload_rest('2020-01-01', '-infinity', gen_random_uuid(), 10)",
                    ] {
                        try await GrantsTests.expectDenied(connection, call)
                    }
                }
            }
            #expect(try await RetentionStore(owner).months().count == 1)
        }
    }

    @Test(arguments: Grants.Role.allCases.filter { $0 != .migrator })
    func `Role creates nothing, not even temporary tables`(role: Grants.Role) async throws {
        try await GrantsTests.withGrants { database, _ in
            try await GrantsTests.acting(as: role.rawValue, in: database) { connection in
                for sql in [
                    "create temporary table subscription (id integer)", "create table t (id integer)",
                    "create schema mine", "create function f() returns void language sql as ''",
                ] {
                    try await GrantsTests.expectDenied(connection, sql)
                }
            }
        }
    }

    /// A month's table that grants everything to the attacker as soon as the owner of the function writes to it.
    private static let snare = """
        create temporary table notification_payload_default (
            recorded_at timestamptz, notification_uuid uuid, decoded json, signed_original bytea, chains bytea[]);
        create temporary table notification_payload_2031_01 (like pg_temp.notification_payload_default);
        create function pg_temp.grab() returns trigger language plpgsql as $f$
        begin
            execute 'grant all on all tables in schema public to storekeeper_reader';
            return new;
        end
        $f$;
        create trigger grab before insert on pg_temp.notification_payload_2031_01
            for each row execute function pg_temp.grab();
        insert into pg_temp.notification_payload_default values ('2031-01-15', gen_random_uuid(), '{}', '', '{}');
        grant all on pg_temp.notification_payload_default, pg_temp.notification_payload_2031_01 to public;
        """

    private static let gained = Statement(
        "test-gained",
        """
        select relname::text as name from pg_class
        where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
            and has_table_privilege('storekeeper_reader', oid, 'insert, update, delete, truncate, trigger')
        """)
}
