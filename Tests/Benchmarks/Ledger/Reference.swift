import ArgumentParser
import Foundation
import Postgres

/// pgbench writing what a batch of ours writes: as many rows of the same content into the same tables with the same
/// indexes, in one transaction; payloads are given uncompressed, so that both compress them. It reads nothing of what
/// is known, transfers nothing and decides nothing.
///
/// Which rows a batch writes was looked at right after our code had applied it, for every batch that samples are cut into: a
/// batch of purchases that begin writes twice as much of a timeline as one of renewals. pgbench takes any of them. It inserts
/// what ours updates, and does not touch the rows that ours only locks.
struct Reference {
    /// What the one transaction writes, in its order.
    static let tables = [
        "notification", "notification_payload", "transaction", "subscription", "access_period", "timeline", "anomaly",
        "account_claim", "purchase_account", "account_version", "lifecycle_gap", "recovery_request",
    ]

    let url: String
    let batch: Int
    private let script: String

    /// Fills an empty ledger with every batch of the samples, keeps what each wrote as a pattern, and empties it.
    init(_ databases: DatabaseServer, samples: SampleBatches) async throws {
        url = try await databases.create("reference")
        batch = samples.batch
        let ledger = try await Ledger(url, isMigrated: false)
        let connection = DatabaseServer.connection(url)
        try await connection.run(unsafeScript: Self.emptyPatterns)
        for pattern in 0..<samples.batches {
            _ = try await ledger.apply(samples)
            try await connection.run(unsafeScript: Self.keeping(pattern))
        }
        await ledger.close()
        try await connection.run(unsafeScript: "truncate \(Self.tables.joined(separator: ", ")), shared_account_notice")
        try await connection.run(unsafeScript: "analyze")
        var statements = [
            "\\set pass random(1, 4000000000000000)", "\\set pattern random(0, \(samples.batches - 1))", "begin;",
            "update consumer_position set next_offset = next_offset + 1;",
        ]
        for table in Self.tables { statements.append(try await Self.insertion(into: table, connection)) }
        statements.append("commit;")
        await connection.close()
        script = try Self.file(of: statements)
    }

    static func file(of statements: [String]) throws -> String {
        let path = FileManager.default.temporaryDirectory.appending(path: "reference-\(UUID().uuidString).sql").path
        try statements.joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    static func remove(_ script: String) { try? FileManager.default.removeItem(atPath: script) }

    func remove() { Self.remove(script) }

    private static var emptyPatterns: String {
        tables.map { table in
            """
            create table pattern_\(table) as select 0 as pattern, * from \(table) with no data;
            create index on pattern_\(table) (pattern);
            """
        }.joined(separator: "\n")
    }

    /// The rows whose newest version is of the transaction that wrote the newest notification: those it inserted and those
    /// it updated, and none that it found as they should be.
    private static func keeping(_ pattern: Int) -> String {
        tables.map { table in
            """
            insert into pattern_\(table)
            select \(pattern), written.* from \(table) written
            where written.xmin = (select xmin from notification order by kafka_offset desc limit 1);
            """
        }.joined(separator: "\n")
    }

    /// Rows of each table beside those of `notification`, over all patterns: what pgbench writes.
    func rowsPerNotification() async throws -> String {
        let connection = DatabaseServer.connection(url)
        let counts = try await Ledger.rowsPerNotification(connection, prefix: "pattern_")
        await connection.close()
        return counts
    }

    static func columns(of table: String, _ connection: PostgresConnection) async throws -> [String] {
        try await connection.execute(
            Statement(
                unsafeSQL: """
                    select attname::text as name from pg_attribute
                    where attrelid = '\(table)'::regclass and attnum > 0 and not attisdropped and attidentity = ''
                    order by attnum
                    """)
        ).map { row in try row.value("name", as: String.self) }
    }

    /// The pattern's rows under other ids, the same in all tables.
    /// - Parameter isCopy: payloads are copied as the pattern has them, compressed; else written again.
    static func insertion(
        into table: String, _ connection: PostgresConnection, pass: String = ":pass", from more: String = "",
        pattern: String = ":pattern", isCopy: Bool = false
    ) async throws -> String {
        let names = try await columns(of: table, connection)
        let values = names.map { name in
            switch name {
            case "notification_uuid", "before_uuid", "after_uuid", "app_account_token", "owner_account_token":
                "md5(\(name)::text || \(pass))::uuid"
            case "original_transaction_id", "transaction_id", "app_transaction_id": "\(name) || '-' || \(pass)"
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
        try await Self.transactions(on: url, scripts: [script], mode: "prepared", seconds: seconds) * Double(batch)
    }

    /// Selects of one narrow row by key per second, among so many rows.
    static func selects(on url: String, rows: Int, seconds: Double) async throws -> Double {
        let script = try file(of: ["\\set id random(1, \(rows))", "select status from narrow where id = :id;"])
        defer { remove(script) }
        return try await transactions(on: url, scripts: [script], mode: "prepared", seconds: seconds)
    }

    /// Transactions of pgbench per second.
    static func transactions(on url: String, scripts: [String], mode: String, seconds: Double) async throws -> Double {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments =
            ["pgbench", "-n", "-M", mode, "-c", "1", "-T", String(max(1, Int(seconds)))]
            + scripts.flatMap { ["-f", $0] } + [url]
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
        return tps
    }
}
