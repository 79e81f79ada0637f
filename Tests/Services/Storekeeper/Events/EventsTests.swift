import Foundation
import TestSupport
import Testing

@testable import Storekeeper

struct EventsTests {
    private struct Row: Decodable {
        var notificationUUID: String
        var notificationType: String
        var recordedAt: String
        var environment: String
    }

    @Test func `List shows the newest first and restricts by every option`() async throws {
        try await TestDatabase.use { database async throws in
            _ = try await SampleLedger.fill(database)
            func listed(_ arguments: String...) async throws -> [String] {
                let outcome = await database.run(["events", "list", "--json"] + arguments)
                #expect(outcome.code == 0, "\(outcome.errorOutput)")
                return try outcome.json(as: [Row].self).compactMap { UUID(uuidString: $0.notificationUUID) }.map {
                    [SampleLedger.bought: "bought", SampleLedger.renewed: "renewed", SampleLedger.strange: "strange"][
                        $0]
                        ?? "?"
                }
            }
            #expect(try await listed() == ["strange", "renewed", "bought"])
            #expect(try await listed("--limit", "1") == ["strange"])
            #expect(try await listed("--type", "DID_RENEW") == ["renewed"])
            #expect(try await listed("--subtype", "INITIAL_BUY") == ["bought"])
            #expect(try await listed("--environment", "Sandbox") == ["strange"])
            #expect(try await listed("--app", "com.example.other") == [])
            #expect(try await listed("--source", "history") == [])
            // Recorded 3598, 3538 and 3478 s before the test's now.
            #expect(try await listed("--from", "3540s") == ["strange", "renewed"])
            #expect(try await listed("--to", "3540s") == ["bought"])
            #expect(try await listed("--purchase", SampleLedger.purchase) == ["bought", "renewed"])
            #expect(try await listed("--purchase", SampleLedger.purchase, "--type", "DID_RENEW") == ["renewed"])
            // The type of notifications of version 1 is none of Apple's, and no mistake.
            for (type, warns) in [("V1", false), ("V3", true)] {
                let outcome = await database.run(["events", "list", "--type", type])
                #expect(outcome.code == 0 && outcome.errorOutput.contains("Unknown notificationType") == warns)
            }
        }
    }

    @Test func `Type that steers a terminal is shown and steers nothing`() async throws {
        try await TestDatabase.use { database async throws in
            _ = try await SampleLedger.fill(database)
            for format in [[], ["--json"]] {
                let outcome = await database.run(["events", "list"] + format)
                #expect(!outcome.text.unicodeScalars.contains("\u{1B}"))
                #expect(outcome.text.contains(#"\u001b[2J"#))
            }
        }
    }

    @Test func `events show prints the payload as it was written, or as it was signed`() async throws {
        try await TestDatabase.use { database async throws in
            _ = try await SampleLedger.fill(database)
            let uuid = SampleLedger.renewed.uuidString
            let shown = await database.run(["events", "show", uuid])
            #expect(shown.code == 0)
            #expect(shown.text.contains("DID_RENEW") && shown.text.contains(#""price": 1.10"#))
            let json = await database.run(["events", "show", uuid, "--json"])
            #expect(json.text.contains(#""price": 1.10"#))
            let object = try JSONSerialization.jsonObject(with: Data(json.text.utf8)) as? [String: Any]
            #expect(object?["payload"] is [String: Any] && object?["notificationType"] as? String == "DID_RENEW")
            let original = await database.run(["events", "show", uuid, "--original"])
            #expect(original.text == "head.\(uuid.lowercased()).tail")
        }
    }

    @Test func `events show lists Apple's attempts, each failed one with what to check`() async throws {
        try await TestDatabase.use { database async throws in
            let ledger = try await SampleLedger.fill(database)
            let uuid = SampleLedger.renewed.uuidString
            try await ledger.connection.run(
                unsafeScript: """
                    insert into send_attempt (attempted_at, notification_uuid, environment, bundle_id, result)
                    values (to_timestamp(1), '\(uuid)', 'Production', 'com.example.app', 'TIMED_OUT'),
                        (to_timestamp(3601), '\(uuid)', 'Production', 'com.example.app', 'SUCCESS')
                    """)
            let shown = await database.run(["events", "show", uuid])
            #expect(
                shown.text.contains("attempt      1970-01-01T00:00:01Z TIMED_OUT: ingest answered too late"),
                "\(shown.text)")
            #expect(shown.text.contains("attempt      1970-01-01T01:00:01Z SUCCESS"))
            let counted = await database.run(
                ["notifications", "attempts", "--from", "1970-01-01", "--app", "com.example.app"])
            #expect(counted.code == 0 && counted.text.contains("TIMED_OUT"), "\(counted.errorOutput)")
            #expect(counted.text.contains("ingest answered too late"))
            let sandbox = await database.run(
                ["notifications", "attempts", "--from", "1970-01-01", "--environment", "Sandbox"])
            #expect(sandbox.text.contains("No failed attempt of Apple's is known of this time."))
            struct Shown: Decodable {
                struct Attempt: Decodable {
                    var result: String
                    var remedy: String?
                }
                var attempts: [Attempt]
            }
            let json: Shown = try await database.run(["events", "show", uuid, "--json"]).json()
            #expect(json.attempts.map(\.result) == ["TIMED_OUT", "SUCCESS"])
            #expect(json.attempts.map { $0.remedy == nil } == [false, true])
        }
    }

    @Test func `events show names a notification that the ledger lacks, with where to look`() async throws {
        try await TestDatabase.use { database async throws in
            let outcome = await database.run(["events", "show", UUID().uuidString])
            #expect(outcome.code == 1)
            #expect(outcome.errorOutput.contains("dead-letters list"))
        }
    }

    @Test func `Timeline tells what became of a purchase`() async throws {
        try await TestDatabase.use { database async throws in
            _ = try await SampleLedger.fill(database)
            let outcome = await database.run(["events", "timeline", SampleLedger.purchase])
            #expect(outcome.code == 0)
            let change = outcome.text.split(separator: "\n").first { $0.contains("The product is pro.yearly") }
            #expect(change?.contains("pro.monthly") == true)
            #expect(change?.contains(SampleLedger.renewed.uuidString.lowercased()) == true)
            let unknown = await database.run(["events", "timeline", "1"])
            #expect(unknown.code == 1 && unknown.errorOutput.contains("unknown purchase"))
        }
    }

    @Test func `Timeline says in words what each notification told, what it changed, and what came late`()
        async throws
    {
        try await TestDatabase.use { database async throws in
            let ledger = try await SampleLedger.fill(database)
            let early = CommandOutcome.now.addingTimeInterval(-7200)
            try await ledger.add(UUID(), "CONSUMPTION_REQUEST", nil, at: early, product: "pro.old")
            try await ledger.add(
                UUID(), "DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED", at: early, product: "pro.old")
            let outcome = await database.run(["events", "timeline", SampleLedger.purchase])
            #expect(outcome.code == 0)
            #expect(outcome.text.contains("The product is pro.yearly; it was pro.monthly."))
            // Late as well, and still the newest that is known about a refund.
            let request = outcome.text.split(separator: "\n").first { $0.contains("CONSUMPTION_REQUEST") }
            #expect(request?.contains("The customer requested a refund") == true, "\(outcome.text)")
            #expect(request?.contains("Arrived late") == false)
            let late = outcome.text.split(separator: "\n").first { $0.contains("AUTO_RENEW_ENABLED") }
            #expect(late?.contains("Arrived late") == true)
            let bought = outcome.text.split(separator: "\n").first { $0.contains("SUBSCRIBED/INITIAL_BUY") }
            #expect(bought?.contains("The customer subscribed to") == true)
        }
    }

    @Test func `events purchase shows access, anomalies and gaps`() async throws {
        try await TestDatabase.use { database async throws in
            let ledger = SampleLedger(connection: TestDatabase.connection(database))
            // From the middle of a life, without an end, and once more with other content.
            let at = CommandOutcome.now.addingTimeInterval(-3600)
            try await ledger.add(SampleLedger.renewed, "DID_RENEW", nil, at: at, product: "pro.yearly")
            try await ledger.add(
                SampleLedger.renewed, "DID_RENEW", nil, at: at, product: "pro.yearly", words: "other")
            let show = ["events", "purchase", SampleLedger.purchase]
            let shown = await database.run(show)
            #expect(shown.code == 0, "\(shown.errorOutput)")
            for words in [
                "pro.yearly", "access       no", "An auto-renewable subscription has no end",
                "The first notification is not the initial purchase",
                "\(SampleLedger.renewed.uuidString.lowercased()) arrived with other content",
            ] {
                #expect(shown.text.contains(words), "\(words) in \(shown.text)")
            }
            struct Sheet: Decodable {
                var state: String
                var anomalies: [String]
                var gaps: [String]
                var conflicts: [String]
            }
            let json: [Sheet] = try await database.run(show + ["--json"]).json()
            #expect(json.map(\.anomalies.count) == [1])
            // Apple is also asked why the status gives access and no transaction does.
            #expect(json.map(\.gaps.count) == [2])
            #expect(json.map(\.conflicts) == [[SampleLedger.renewed.uuidString.lowercased()]])
            let unknown = await database.run(["events", "purchase", "1"])
            #expect(unknown.code == 1 && unknown.errorOutput.contains("unknown purchase"))
        }
    }

    @Test func `events purchase shows which payment of a commitment was made`() async throws {
        try await TestDatabase.use { database async throws in
            try await SampleLedger(connection: TestDatabase.connection(database)).add(
                SampleLedger.bought, "SUBSCRIBED", "INITIAL_BUY", at: CommandOutcome.now.addingTimeInterval(-60),
                product: "studio.commitment",
                commitment: #"{"billingPeriodNumber":3,"totalBillingPeriods":12,"commitmentPrice":191880}"#)
            let shown = await database.run(["events", "purchase", SampleLedger.purchase])
            #expect(
                shown.text.contains("commitment   payment 3 of 12; all payments together are 191.880"), "\(shown.text)")
            let timeline = await database.run(["events", "timeline", SampleLedger.purchase])
            #expect(timeline.text.contains("The number of the payment within the commitment is 3."), "\(timeline.text)")
        }
    }

    @Test func `Migrated purchase names the one that it was, after its renewals too`() async throws {
        try await TestDatabase.use { database async throws in
            let ledger = SampleLedger(connection: TestDatabase.connection(database))
            let at = CommandOutcome.now.addingTimeInterval(-3600)
            let show = ["events", "purchase", SampleLedger.purchase]
            try await ledger.add(
                SampleLedger.bought, "MIGRATION", nil, at: at, product: "pro", transaction: "1", migratedFrom: "17")
            struct Sheet: Decodable {
                var transactionId: String
                var previousOriginalTransactionId: String?
            }
            for transaction in ["1", "2"] {
                let shown = await database.run(show)
                #expect(shown.text.contains("migrated     from purchase 17"), "\(shown.text)")
                let json: [Sheet] = try await database.run(show + ["--json"]).json()
                #expect(json.map(\.transactionId) == [transaction])
                #expect(json.map(\.previousOriginalTransactionId) == ["17"])
                try await ledger.add(
                    SampleLedger.renewed, "DID_RENEW", nil, at: at.addingTimeInterval(60), product: "pro",
                    transaction: "2")
            }
        }
    }

    @Test func `events show prints what a notification says and its anomalies`() async throws {
        try await TestDatabase.use { database async throws in
            _ = try await SampleLedger.fill(database)
            let uuid = SampleLedger.renewed.uuidString
            let shown = await database.run(["events", "show", uuid])
            #expect(shown.text.contains("pro.yearly renewed"), "\(shown.text)")
            #expect(shown.text.contains("An auto-renewable subscription has no end; it gives no access."))
        }
    }

    @Test func `events without a database names the variable and exits 78`() async {
        let outcome = await CommandOutcome.of(["events", "list"])
        #expect(outcome.code == 78)
        #expect(outcome.errorOutput.contains("DATABASE_URL is not set"))
    }

    @Test(arguments: [
        ["events", "list", "--limit", "0"], ["events", "list", "--from", "yesterday"],
        ["events", "list", "--environment", "production"], ["events", "show", "7"],
    ])
    func `events with an unreadable argument exits 64`(arguments: [String]) async {
        #expect(await CommandOutcome.of(arguments, environment: ["DATABASE_URL": "postgres://nowhere"]).code == 64)
    }
}
