import Postgres
import TestSupport

extension TestDatabase {
    /// From now on a table takes no row of one app, as if something were wrong with that app alone.
    static func refuse(_ bundleId: String, in table: String, of database: PostgresConfiguration) async throws {
        try await connection(database).run(
            unsafeScript: """
                create function refuse_\(table)() returns trigger language plpgsql as $$
                begin
                    if new.bundle_id = '\(bundleId)' then raise exception 'it is rejected'; end if;
                    return new;
                end $$;
                create trigger refuse before insert on \(table) for each row execute function refuse_\(table)();
                """)
    }

    /// And now it takes it again.
    static func allow(_ table: String, of database: PostgresConfiguration) async throws {
        try await connection(database).run(unsafeScript: "drop trigger refuse on \(table)")
    }
}
