import Foundation
import Postgres

/// pgbench sending the rows of ``Reference`` as a client without prepared statements does: as literals, a script for each
/// pattern. The server gets every value over the connection and parses it. The ids are made of them there, once for a
/// statement, because pgbench would copy the statement again for each of its rows.
struct LiteralReference {
    private let reference: Reference
    private let scripts: [String]

    init(_ reference: Reference, patterns: Int) async throws {
        self.reference = reference
        let connection = DatabaseServer.connection(reference.url)
        var scripts: [String] = []
        for pattern in 0..<patterns {
            var statements = [
                "\\set pass random(1, 4000000000000000)", "begin;",
                "update consumer_position set next_offset = next_offset + 1;",
            ]
            for table in Reference.tables {
                statements += try await Self.insertion(of: pattern, into: table, connection)
            }
            scripts.append(try Reference.file(of: statements + ["commit;"]))
        }
        await connection.close()
        self.scripts = scripts
    }

    /// Nothing where the pattern has no row.
    private static func insertion(
        of pattern: Int, into table: String, _ connection: PostgresConnection
    ) async throws -> [String] {
        let names = try await Reference.columns(of: table, connection)
        let values = names.map { name in
            switch name {
            case "notification_uuid", "before_uuid", "after_uuid", "app_account_token", "owner_account_token":
                "md5(\(name) || pass)::uuid"
            case "original_transaction_id", "transaction_id", "app_transaction_id": "\(name) || '-' || pass"
            default: name
            }
        }
        let types = try await connection.execute(
            Statement(
                unsafeSQL: """
                    select attname::text as name, format_type(atttypid, atttypmod) as type from pg_attribute
                    where attrelid = '\(table)'::regclass and attnum > 0 and not attisdropped and attidentity = ''
                    order by attnum
                    """)
        ).map { row in try row.value("type", as: String.self) }
        let rows = try await connection.execute(
            Statement(
                unsafeSQL: """
                    select '(' || concat_ws(', ', \(names.map { "quote_nullable(\($0)::text)" }.joined(separator: ", ")))
                        || ')' as row
                    from pattern_\(table) where pattern = \(pattern)
                    """)
        ).map { row in try row.value("row", as: String.self) }
        guard !rows.isEmpty else { return [] }
        let list = names.joined(separator: ", ")
        let typed = zip(values, zip(names, types)).map { $0 == $1.0 ? "\($0)::\($1.1)" : $0 }
        return [
            "insert into \(table) (\(list)) select \(typed.joined(separator: ", ")) from (values",
            rows.joined(separator: ",\n"), ") as given (\(list)) cross join (select (:pass)::text as pass) as pass;",
        ]
    }

    func remove() { scripts.forEach(Reference.remove) }

    /// Rows of `notification` per second.
    func rate(seconds: Double) async throws -> Double {
        try await Reference.transactions(on: reference.url, scripts: scripts, mode: "simple", seconds: seconds)
            * Double(reference.batch)
    }
}
