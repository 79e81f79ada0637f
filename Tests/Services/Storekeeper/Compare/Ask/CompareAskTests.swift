import Contracts
import Foundation
import Postgres
import Storage
import TestSupport
import Testing

@testable import SimulatedAppStore
@testable import Storekeeper

/// The other system asked over HTTP: the answers say what its export says.
@Suite(.serialized) struct CompareAskTests {
    private struct Summary: Decodable {
        var customers: Int
        var asked: Int
        var askedBefore: Int
        var unknown: [String]
        var failed: [String: String]
        var answers: String?
    }

    private static func use(
        _ shape: ExportShape,
        _ body:
            @escaping @Sendable (SimulatedOtherSystem, PostgresConfiguration, TemporaryDirectory) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try await TestDatabase.use { database async throws in
            try await SimulatedOtherSystem.use(shape) { other async throws in
                try directory.write("key", other.key + "\n")
                try directory.write("export.csv", other.text)
                try directory.write("ids.txt", try other.customers().joined(separator: "\n") + "\n\nstranger\n")
                try await body(other, database, directory)
            }
        }
    }

    private static func ask(
        _ other: SimulatedOtherSystem, _ database: PostgresConfiguration, _ directory: TemporaryDirectory,
        _ further: String...
    ) async -> CommandOutcome {
        await CommandOutcome.of(
            [
                "compare", "ask", directory.path("ids.txt"), "--system", other.system.rawValue, "--key-file",
                directory.path("key"), "--url", other.url, "--app", SimulatedOtherSystem.app.bundleId, "--rate", "100",
            ] + further, environment: database.environment, now: SimulatedOtherSystem.now)
    }

    @Test(arguments: ExportShape.allCases)
    func `Answers about each customer say what the export says, and nothing of whom they are`(
        shape: ExportShape
    ) async throws {
        try await Self.use(shape) { other, database, directory async throws in
            let outcome = await Self.ask(other, database, directory, "--json")
            #expect(outcome.code == 0, "\(outcome.errorOutput)")
            let summary = try outcome.json(as: Summary.self)
            let customers = try other.customers()
            #expect(summary.customers == customers.count + 1 && summary.asked == summary.customers)
            #expect(summary.unknown == ["stranger"] && summary.failed.isEmpty && summary.askedBefore == 0)
            let answers = directory.path("ids.txt.answers.csv")
            #expect(summary.answers == answers)
            let said = try other.statements(of: answers)
            let exported = try other.statements(of: directory.path("export.csv"))
            #expect(said == exported)
            #expect(said.count > 10)
            let text = try String(contentsOfFile: answers, encoding: .utf8)
            #expect(!text.contains("@"), "e-mail addresses are not read")
            let date = try FileManager.default.attributesOfItem(atPath: answers)[.modificationDate] as? Date
            #expect(date == SimulatedOtherSystem.now)
            #expect(!FileManager.default.fileExists(atPath: answers + ".progress"))
            let audit = await database.run(["audit"])
            #expect(audit.text.contains("compare ask") && audit.text.contains("olga"), "\(audit.text)")
            let again = await Self.ask(other, database, directory)
            #expect(again.code == 1 && again.errorOutput.contains("is there already"), "\(again.errorOutput)")
            let compared = await CommandOutcome.of(
                ["compare", answers, "--app", SimulatedOtherSystem.app.bundleId, "--ask", "0", "--json"],
                environment: database.environment, now: SimulatedOtherSystem.now)
            #expect(compared.text.contains("\"invalid\" : 0"), "\(compared.text) \(compared.errorOutput)")
        }
    }

    @Test func `An interrupted run goes on where it stopped, and an unusable key or file of another app stops it`()
        async throws
    {
        try await Self.use(.revenueCat) { other, database, directory async throws in
            let customers = try other.customers()
            let place = "revenuecat com.example.app Production"
            let path = directory.path("ids.txt.answers.csv.progress")
            let first = AnsweredRecord([
                "rc_original_app_user_id": customers[0], "rc_last_seen_app_user_id_alias": customers[0],
                "store": "promotional", "is_sandbox": "false", "product_identifier": "kept",
            ])
            do {
                let progress = try AskProgress(
                    at: path, of: place, columns: RevenueCatCustomer.columns,
                    now: SimulatedOtherSystem.now.addingTimeInterval(-60))
                try progress.note(customers[0], [first])
            }
            // The process ended while it wrote about the next one.
            let file = try #require(FileHandle(forWritingAtPath: path))
            try file.seekToEnd()
            try file.write(contentsOf: Data("\(customers[1]),\(customers[1]),app_st".utf8))
            try file.close()
            try directory.write("key", "public_1\n")
            let refused = await Self.ask(other, database, directory)
            #expect(refused.code == 1 && refused.errorOutput.contains("refuses the key"), "\(refused.errorOutput)")
            #expect(refused.errorOutput.contains("Progress is saved") && !refused.errorOutput.contains("public_1"))
            let elsewhere = await Self.ask(other, database, directory, "--environment", "Sandbox")
            #expect(elsewhere.code == 1 && elsewhere.errorOutput.contains("is of something else"))
            let foreign = "a file of something else\n"
            try directory.write("other.csv.progress", foreign)
            let mistaken = await Self.ask(other, database, directory, "--answers", directory.path("other.csv"))
            #expect(
                mistaken.code == 1 && mistaken.errorOutput.contains("is no progress file"), "\(mistaken.errorOutput)")
            #expect(try String(contentsOfFile: directory.path("other.csv.progress"), encoding: .utf8) == foreign)
            try directory.write("key", other.key)
            let outcome = await Self.ask(other, database, directory, "--json")
            #expect(outcome.code == 0, "\(outcome.errorOutput)")
            let summary = try outcome.json(as: Summary.self)
            #expect(summary.askedBefore == 1 && summary.asked == customers.count)
            let answers = directory.path("ids.txt.answers.csv")
            let text = try String(contentsOfFile: answers, encoding: .utf8)
            #expect(text.contains(",kept,") && !text.contains("app_st\n") && !text.contains("# "))
            #expect(try CompareFile(answers, columns: nil).takenAt == SimulatedOtherSystem.now.addingTimeInterval(-60))
        }
    }

    @Test func `Arguments are checked before anything is asked`() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try directory.write("key", "sk_1\nsk_2\n")
        try directory.write("ids.txt", "a\n..\n\u{1}\n")
        func ask(_ further: String...) async -> CommandOutcome {
            await CommandOutcome.of(
                [
                    "compare", "ask", directory.path("ids.txt"), "--system", "revenuecat", "--app", "com.example.app",
                    "--key-file", directory.path("key"),
                ] + further)
        }
        #expect(await ask("--rate", "0").code == 64)
        #expect(await ask("--url", "http://example.com").code == 64)
        #expect(await ask("--url", "http://127.0.0.1.example.com").code == 64)
        let keys = await ask()
        #expect(keys.code == 1 && keys.errorOutput.contains("on one line"), "\(keys.errorOutput)")
        try directory.write("key", "sk_1\n")
        let ids = await ask()
        #expect(ids.code == 64 && ids.errorOutput.contains("2 lines are no ids"), "\(ids.errorOutput)")
        let missing = await CommandOutcome.of(
            ["compare", "ask", "x", "--system", "other", "--app", "a", "--key-file", "k"])
        #expect(missing.code == 64)
    }

    @Test func `Transactions that are known here have the purchase to which they belong`() async throws {
        try await TestDatabase.connected { connection async throws in
            let ledger = ComparedLedger.withAllCauses()
            try await ledger.apply(to: connection, seed: 1)
            var wanted: [String: String] = [:]
            for entry in ledger.entries {
                if let id = entry.notification.transactionId { wanted[id] = entry.originalTransactionId }
            }
            #expect(wanted.contains { $0.key != $0.value })
            let store = TransactionStore(connection)
            let found = try await store.originals(
                of: wanted.keys + ["999"], bundleId: ComparedLedger.app, in: .production)
            #expect(found == wanted)
            #expect(try await store.originals(of: ["999"], bundleId: "other", in: .production).isEmpty)
            #expect(
                try await store.originals(of: Array(wanted.keys), bundleId: "other", in: .production).isEmpty)
        }
    }
}
