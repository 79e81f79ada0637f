import Contracts
import Foundation
import Kafka
import Postgres
import Storage
import TestSupport
import Testing

@testable import Storekeeper

struct LedgerReplayTests {
    static let longAgo = Date(timeIntervalSince1970: 1_732_190_400)

    /// The sample with the older of its two notifications dropped by age.
    private func withDroppedMonth(
        _ body: (SampleLedger, PostgresConfiguration) async throws -> Void
    ) async throws {
        try await TestDatabase.use { database async throws in
            let ledger = SampleLedger(connection: TestDatabase.connection(database))
            let retention = RetentionStore(ledger.connection)
            _ = try await retention.prepare(now: Self.longAgo)
            try await ledger.add(SampleLedger.bought, "SUBSCRIBED", "INITIAL_BUY", at: Self.longAgo, product: "pro")
            try await ledger.add(
                SampleLedger.renewed, "DID_RENEW", nil, at: CommandOutcome.now.addingTimeInterval(-60), product: "pro")
            let report = try await retention.run(
                RetentionPolicy(ledgerDays: 200, sightingDays: 8), now: CommandOutcome.now)
            #expect(report.dropped.map(\.name).contains("notification_payload_2024_11"))
            try await body(ledger, database)
        }
    }

    @Test func `of a window that reaches into a dropped month the rest goes, and what cannot is said`() async throws {
        try await withDroppedMonth { ledger, database async throws in
            let broker = try DevelopmentBroker(
                topics: [(Topics.received.name, Topics.received.route.partitions)])
            let environment = broker.environment.merging(database.environment) { _, new in new }
            let window = ["replay", "--from", "2024-01-01T00:00:00Z", "--to", "0s"]
            let dry = await CommandOutcome.of(window + ["--dry-run"], environment: environment)
            #expect(dry.text.hasPrefix("1 notification would go over the line again; the ledger has all of them"))
            #expect(dry.text.contains("Of 1 retention has dropped"))
            let outcome = await CommandOutcome.of(
                window + ["--known", "--note", "mended"], environment: environment)
            #expect(outcome.code == 1)
            #expect(outcome.text == "1 notification went over the line again.")
            #expect(outcome.complaint.contains("Of 1 retention has dropped what they said"), "\(outcome.complaint)")
            let received = try await WrittenRecords.of(Topics.received.route, at: broker.configuration)
            #expect(received.count == 1)
            let trail = try await OperatorActionStore(ledger.connection).newest(10)
            #expect(trail.map(\.action) == ["replay"] && trail.map(\.note) == ["mended"])

            let one = ["replay", "--known", "--uuid", SampleLedger.renewed.uuidString, "--uuid"]
            let dropped = await CommandOutcome.of(one + [SampleLedger.bought.uuidString], environment: environment)
            #expect(dropped.code == 1 && dropped.complaint.contains("retention has dropped"))
            let unknown = await CommandOutcome.of(one + [UUID().uuidString], environment: environment)
            #expect(unknown.code == 1 && unknown.complaint.contains("the ledger has no notification"))
            #expect(try await WrittenRecords.of(Topics.received.route, at: broker.configuration).count == 1)
        }
    }

    @Test func `what the ledger knows is sent only where somebody says that it is meant, and then it changes nothing`()
        async throws
    {
        struct Summary: Decodable, Equatable {
            var dryRun: Bool
            var found: Int
            var known: Int
            var dropped: Int
            var sent: Int
        }
        try await TestDatabase.use { database async throws in
            let ledger = try await SampleLedger.fill(database)
            let broker = try DevelopmentBroker(topics: [(Topics.received.name, Topics.received.route.partitions)])
            let environment = broker.environment.merging(database.environment) { _, new in new }
            let replay = [
                "replay", "--uuid", SampleLedger.bought.uuidString, "--uuid", SampleLedger.renewed.uuidString,
            ]
            let refused = await CommandOutcome.of(replay, environment: environment)
            #expect(refused.code == 1 && refused.text.isEmpty)
            for told in ["all 2 notifications", "rebuild", "--repair", "--known"] {
                #expect(refused.complaint.contains(told), "\(told) in \(refused.complaint)")
            }
            #expect(try await WrittenRecords.of(Topics.received.route, at: broker.configuration).isEmpty)
            #expect(try await OperatorActionStore(ledger.connection).newest(10).isEmpty)

            let dry = await CommandOutcome.of(replay + ["--dry-run", "--json"], environment: environment)
            #expect(try dry.json() == Summary(dryRun: true, found: 2, known: 2, dropped: 0, sent: 0))
            let sent = await CommandOutcome.of(replay + ["--known", "--json"], environment: environment)
            #expect(try sent.json() == Summary(dryRun: false, found: 2, known: 2, dropped: 0, sent: 2))
            #expect(sent.complaint.contains("2 notifications go over the line again; the ledger has all of them"))
            #expect(try await WrittenRecords.of(Topics.received.route, at: broker.configuration).count == 2)
        }
    }

    @Test func `one whose payload was dropped is shown with what is left of it`() async throws {
        try await withDroppedMonth { _, database async throws in
            let show = ["events", "show", SampleLedger.bought.uuidString]
            let shown = await CommandOutcome.of(show, environment: database.environment)
            #expect(shown.code == 0, "\(shown.complaint)")
            #expect(shown.text.contains("INITIAL_BUY") && shown.text.contains("dropped by age"))
            let json = await CommandOutcome.of(show + ["--json"], environment: database.environment)
            let object = try JSONSerialization.jsonObject(with: Data(json.text.utf8)) as? [String: Any]
            #expect(object?["payload"] is NSNull && object?["notificationType"] as? String == "SUBSCRIBED")
            let original = await CommandOutcome.of(show + ["--original"], environment: database.environment)
            #expect(original.code == 1 && original.complaint.contains("retention has dropped"))
            let timeline = await CommandOutcome.of(
                ["events", "timeline", SampleLedger.purchase], environment: database.environment)
            #expect(timeline.text.contains("can no longer be read") && timeline.text.contains("DID_RENEW"))
        }
    }
}
