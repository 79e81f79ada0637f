import ArgumentParser
import Foundation
import Postgres

/// pgbench writing what a batch of ours writes: as many rows of the same content into the same tables with the same
/// indexes, in one transaction; payloads are given uncompressed, so that both compress them. It reads nothing of what
/// is known, transfers nothing and decides nothing.
struct Reference {
    /// What the one transaction writes, in its order.
    static let tables = [
        "notification", "notification_payload", "transaction", "subscription", "timeline", "mark", "step",
        "account_claim", "skipped_step", "recovery_request",
    ]

    private let url: String
    private let batch: Int
    private let script: String

    /// Turns a ledger that our code has filled into patterns for the rows, and empties it.
    init(url: String, batch: Int) async throws {
        self.url = url
        self.batch = batch
        let connection = Bench.connection(url)
        try await connection.run(unsafeScript: Self.patterns(batch))
        var statements = [
            "\\set pass random(1, 4000000000000000)", "begin;",
            "update consumer_position set next_offset = next_offset + 1;",
        ]
        for table in Self.tables { statements.append(try await Self.insertion(into: table, connection)) }
        statements.append("commit;")
        await connection.close()
        script = FileManager.default.temporaryDirectory.appending(path: "reference-\(UUID().uuidString).sql").path
        try statements.joined(separator: "\n").write(toFile: script, atomically: true, encoding: .utf8)
    }

    private static func patterns(_ batch: Int) -> String {
        """
        create table pattern_notification as
            select * from notification order by log_offset desc limit \(batch);
        create table pattern_notification_payload as
            select payload.* from notification_payload payload join pattern_notification using (notification_uuid);
        create table pattern_subscription as
            select distinct s.* from subscription s
            join pattern_notification n using (environment, original_transaction_id);
        create table pattern_transaction as
            select distinct t.* from transaction t
            join pattern_notification n using (environment, transaction_id);
        create table pattern_timeline as
            select t.* from timeline t join pattern_notification using (notification_uuid);
        create table pattern_account_claim as
            select distinct c.* from account_claim c
            join pattern_notification n using (environment, original_transaction_id);
        create table pattern_skipped_step as
            select distinct s.* from skipped_step s
            join pattern_notification n on n.notification_uuid = s.before_uuid;
        create table pattern_recovery_request as
            select distinct r.* from recovery_request r
            join pattern_notification n on n.notification_uuid = r.before_uuid;
        create table pattern_mark as select m.* from mark m join pattern_notification using (notification_uuid);
        create table pattern_step as select s.* from step s join pattern_notification using (notification_uuid);
        truncate \(tables.joined(separator: ", ")), shared_account_notice;
        """
    }

    /// The pattern's rows under other ids, the same in all tables.
    /// - Parameter isCopy: payloads are copied as the pattern has them, compressed; else written anew.
    static func insertion(
        into table: String, _ connection: PostgresConnection, pass: String = ":pass", from more: String = "",
        isCopy: Bool = false
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
            + "from pattern_\(table)\(more);"
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
