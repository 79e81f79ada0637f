import ArgumentParser
import Foundation
import Postgres

/// pgbench writing what a batch of ours writes: as many rows of the same content into the same tables with the same
/// indexes, in one transaction; payloads are given uncompressed, so that both compress them. It reads nothing of what
/// is known, transfers nothing and decides nothing.
///
/// Which rows a batch is about was looked at right after our code had applied it, for every batch that lives are cut into:
/// a batch of purchases that begin writes twice as much of a timeline as one of renewals. pgbench takes any of them. Of
/// purchases, transactions and claims it writes those too that ours left as they were.
struct Reference {
    /// What the one transaction writes, in its order.
    static let tables = [
        "notification", "notification_payload", "transaction", "subscription", "timeline", "mark", "step",
        "account_claim", "skipped_step", "recovery_request",
    ]

    private let url: String
    private let batch: Int
    private let script: String

    /// Fills an empty ledger with every batch of the lives, keeps what each wrote as a pattern, and empties it.
    init(_ bench: Bench, lives: Lives) async throws {
        url = try await bench.create("reference")
        batch = lives.batch
        let ledger = try await Ledger(url, isMigrated: false)
        let connection = Bench.connection(url)
        try await connection.run(unsafeScript: Self.emptyPatterns)
        for pattern in 0..<lives.batches {
            _ = try await ledger.apply(lives)
            try await connection.run(unsafeScript: Self.keeping(pattern, batch: batch))
        }
        await ledger.close()
        try await connection.run(unsafeScript: "truncate \(Self.tables.joined(separator: ", ")), shared_account_notice")
        try await connection.run(unsafeScript: "analyze")
        var statements = [
            "\\set pass random(1, 4000000000000000)", "\\set pattern random(0, \(lives.batches - 1))", "begin;",
            "update consumer_position set next_offset = next_offset + 1;",
        ]
        for table in Self.tables { statements.append(try await Self.insertion(into: table, connection)) }
        statements.append("commit;")
        await connection.close()
        script = FileManager.default.temporaryDirectory.appending(path: "reference-\(UUID().uuidString).sql").path
        try statements.joined(separator: "\n").write(toFile: script, atomically: true, encoding: .utf8)
    }

    private static var emptyPatterns: String {
        tables.map { table in
            """
            create table pattern_\(table) as select 0 as pattern, * from \(table) with no data;
            create index on pattern_\(table) (pattern);
            """
        }.joined(separator: "\n")
    }

    private static func keeping(_ pattern: Int, batch: Int) -> String {
        let purchases = "join pattern_notification n using (environment, original_transaction_id)"
        let rows = [
            "notification": "r where log_offset >= \(pattern * batch)",
            "notification_payload": "r join pattern_notification n using (notification_uuid)",
            "transaction": "r join pattern_notification n using (environment, transaction_id)",
            "subscription": "r \(purchases)", "account_claim": "r \(purchases)",
            "skipped_step": "r join pattern_notification n on n.notification_uuid = r.before_uuid",
            "recovery_request": "r join pattern_notification n on n.notification_uuid = r.before_uuid",
        ]
        return tables.map { table in
            let from = rows[table] ?? "r join pattern_notification n using (notification_uuid)"
            let only = table == "notification" ? "" : " where n.pattern = \(pattern)"
            return "insert into pattern_\(table) select distinct on (r.ctid, r.tableoid) \(pattern), r.* "
                + "from \(table) \(from)\(only);"
        }.joined(separator: "\n")
    }

    /// Rows of each table beside those of `notification`, over all patterns: what pgbench writes.
    func rowsPerNotification() async throws -> String {
        let connection = Bench.connection(url)
        let counts = try await Ledger.rowsPerNotification(connection, prefix: "pattern_")
        await connection.close()
        return counts
    }

    /// The pattern's rows under other ids, the same in all tables.
    /// - Parameter isCopy: payloads are copied as the pattern has them, compressed; else written anew.
    static func insertion(
        into table: String, _ connection: PostgresConnection, pass: String = ":pass", from more: String = "",
        pattern: String = ":pattern", isCopy: Bool = false
    ) async throws -> String {
        let names = try await connection.execute(
            Statement(
                unsafeSQL: """
                    select attname::text as name from pg_attribute
                    where attrelid = '\(table)'::regclass and attnum > 0 and not attisdropped and attidentity = ''
                    order by attnum
                    """)
        ).map { row in try row.value("name", as: String.self) }
        let values = names.map { name in
            switch name {
            case "notification_uuid", "before_uuid", "after_uuid": "md5(\(name)::text || \(pass))::uuid"
            case "original_transaction_id", "transaction_id": "\(name) || '-' || \(pass)"
            case "decoded" where !isCopy: "decoded::text::json"
            case "signed_original" where !isCopy: "signed_original || ''::bytea"
            default: name
            }
        }
        return "insert into \(table) (\(names.joined(separator: ", "))) select \(values.joined(separator: ", ")) "
            + "from pattern_\(table)\(more) where pattern = \(pattern);"
    }

    /// Rows of `notification` per second.
    func rate(seconds: Double) async throws -> Double {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "pgbench", "-n", "-M", "prepared", "-c", "1", "-T", String(max(1, Int(seconds))), "-f", script, url,
        ]
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        // Threads of the pool block signals and a child inherits that; pgbench times itself by SIGALRM.
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard let line = output.split(separator: "\n").last(where: { $0.hasPrefix("tps = ") }),
            let tps = Double(line.split(separator: " ")[2])
        else { throw ValidationError("pgbench said nothing that could be read: \(output)") }
        return tps * Double(batch)
    }
}
