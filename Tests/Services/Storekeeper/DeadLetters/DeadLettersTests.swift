import Contracts
import Development
import Foundation
import Kafka
import Logging
import Pipeline
import Postgres
import Records
import Storage
import TestSupport
import Testing

@testable import Storekeeper

struct DeadLettersTests {
    private struct Row: Decodable {
        var id: String
        var stage: String
        var reason: String
        var state: String
        var notificationUUID: String?
    }

    @Test func `dead-letters list, show, replay and dismiss work, and the audit log names the operator`() async throws {
        try await withDeadLetters { fixture async throws in
            let all = try await fixture.list()
            #expect(all.map(\.reason) == ["undecodable", "app-unknown", "signature"])
            #expect(all.allSatisfy { $0.state == "open" })
            #expect(try await fixture.list("--stage", "verifier").map(\.reason) == ["app-unknown", "signature"])
            #expect(try await fixture.list("--reason", "signature").count == 1)
            #expect(
                try await fixture.list("--app", "com.example.app", "--environment", "Production").map(\.reason)
                    == ["undecodable", "app-unknown"])
            #expect(try await fixture.list("--environment", "Sandbox").map(\.reason) == ["signature"])
            #expect(try await fixture.list("--limit", "1").map(\.reason) == ["undecodable"])
            #expect(try await fixture.list("--from", "90m").map(\.reason) == ["undecodable", "app-unknown"])

            let ours = try #require(all.first { $0.reason == "app-unknown" })
            let shown = await fixture.run(["dead-letters", "show", ours.id])
            #expect(shown.text.contains("payload, NOT verified") && shown.text.contains("DID_RENEW"))
            #expect(shown.text.contains("app-unknown") && shown.text.contains("com.example.app"))

            let dry = await fixture.run(["dead-letters", "replay", ours.id, "--dry-run"])
            #expect(dry.text == "1 dead letter would be sent through the pipeline again; the ledger does not have it.")
            #expect(try await fixture.received() == [])
            let replayed = await fixture.run(["dead-letters", "replay", ours.id, "--note", "was not configured"])
            #expect(replayed.code == 0, "\(replayed.errorOutput)")
            let received = try await fixture.received()
            #expect(received.map(\.signedPayload) == [DeadLetterFixture.payload("app-unknown")])
            #expect(received.map(\.source) == [.replay])
            #expect(received.map(\.receivedAt) == [DeadLetterFixture.receivedAt])

            let bad = try #require(all.first { $0.reason == "signature" })
            #expect(await fixture.run(["dead-letters", "dismiss", bad.id]).code == 64)
            let resolved = await fixture.run([
                "dead-letters", "dismiss", bad.id, "--note", "forged", "--actor", "peter",
            ])
            #expect(resolved.text == "1 dead letter dismissed.")
            let again = await fixture.run(["dead-letters", "dismiss", bad.id, "--note", "again", "--dry-run"])
            #expect(again.text == "1 dead letter would be dismissed.")
            #expect(
                again.errorOutput.contains("\(bad.id) was already dismissed") && again.errorOutput.contains("by peter"))
            let typo = await fixture.run(["dead-letters", "list", "--handled", "--reason", "signatur"])
            let reasons = "app-unknown, signature, undecodable"
            #expect(typo.errorOutput == "No dead letter has the reason signatur; there are \(reasons).")

            #expect(try await fixture.list().map(\.reason) == ["undecodable"])
            #expect(try await fixture.list("--handled").map(\.state) == ["open", "replayed", "dismissed"])
            let auditLog = await fixture.run(["audit"])
            let lines = auditLog.text.split(separator: "\n")
            #expect(lines.count == 3)
            #expect(await fixture.run(["audit", "--from", "1h"]).text == auditLog.text)
            #expect(await fixture.run(["audit", "--to", "1h"]).text == "No operator actions.")
            #expect(await fixture.run(["audit", "--from", "1h", "--to", "2h"]).code == 64)
            #expect(
                lines[1].contains("peter") && lines[1].contains("dead-letters dismiss") && lines[1].contains("forged"))
            #expect(lines[2].contains("olga") && lines[2].contains("dead-letters replay") && lines[2].contains(ours.id))
            #expect(await fixture.run(["dead-letters", "show", bad.id]).text.contains("by peter: forged"))
        }
    }

    @Test func `dead-letters replay --all sends every open one; one of a later stage starts at the first topic`()
        async throws
    {
        try await withDeadLetters { fixture async throws in
            #expect(
                await fixture.run(["dead-letters", "replay", "--all", "--dry-run"]).text.hasPrefix("3 dead letters"))
            #expect(await fixture.run(["dead-letters", "replay", "--all", "--stage", "state-updater"]).code == 0)
            #expect(try await fixture.received().map(\.signedPayload) == [DeadLetterFixture.payload("undecodable")])
            // It is dealt with; the others are open.
            #expect(
                await fixture.run(["dead-letters", "replay", "--all", "--dry-run"]).text.hasPrefix("2 dead letters"))
        }
    }

    @Test func `dead-letters replay refuses the beginning of a record by its id and sends nothing`() async throws {
        try await withDeadLetters { fixture async throws in
            try await fixture.reject([UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000))
            let cut = try #require(try await fixture.list("--reason", "too-large").first)
            for arguments in [[cut.id], [cut.id, "--dry-run"], ["--all"]] {
                let refused = await fixture.run(["dead-letters", "replay"] + arguments)
                #expect(refused.code == 1)
                #expect(refused.errorOutput.contains("1 dead letter (\(cut.id)) only the beginning is kept"))
            }
            #expect(try await fixture.received() == [])
            #expect(await fixture.run(["dead-letters", "dismiss", cut.id, "--note", "too large"]).code == 0)
            #expect(await fixture.run(["dead-letters", "replay", "--all"]).code == 0)
        }
    }

    @Test func `dead-letters replay says first how many the ledger has`() async throws {
        struct Summary: Decodable, Equatable {
            var dryRun: Bool
            var found: Int
            var known: Int
            var sent: Int
        }
        try await withDeadLetters { fixture async throws in
            let named = try await fixture.list().compactMap(\.notificationUUID)
            let known = try #require(named.first.flatMap { UUID(uuidString: $0) })
            let ledger = SampleLedger(connection: fixture.harness.connection)
            try await ledger.add(known, "DID_RENEW", nil, at: CommandOutcome.now, product: "pro")
            let dry = await fixture.run(["dead-letters", "replay", "--all", "--dry-run", "--json"])
            #expect(try dry.json() == Summary(dryRun: true, found: 3, known: 3, sent: 0))
            let sent = await fixture.run(["dead-letters", "replay", "--all", "--json"])
            #expect(try sent.json() == Summary(dryRun: false, found: 3, known: 3, sent: 3))
            #expect(
                sent.errorOutput.contains(
                    "3 dead letters would be sent through the pipeline again; the ledger has all of them already"))
            #expect(try await fixture.received().count == 3)
        }
    }

    @Test func `dead-letters list works without a database and shows the state as unknown`() async throws {
        try await withDeadLetters { fixture async throws in
            let outcome = await CommandOutcome.of(["dead-letters", "list", "--json"], environment: fixture.kafka)
            #expect(try outcome.json(as: [Row].self).map(\.state) == ["unknown", "unknown", "unknown"])
            var away = fixture.kafka
            away["DATABASE_URL"] = "postgres://127.0.0.1:1/none"
            let listed = await CommandOutcome.of(["dead-letters", "list", "--json"], environment: away)
            #expect(listed.code == 0)
            #expect(try listed.json(as: [Row].self).map(\.state) == ["unknown", "unknown", "unknown"])
            #expect(listed.errorOutput.contains("Database unavailable"))
            #expect(!listed.errorOutput.contains("\n"), "\(listed.errorOutput)")
            let replay = await CommandOutcome.of(["dead-letters", "replay", "--all"], environment: fixture.kafka)
            #expect(replay.code == 78 && replay.errorOutput.contains("DATABASE_URL"))
        }
    }

    @Test func `dead-letters show names an id that the topic does not hold, and those it holds`() async throws {
        try await withDeadLetters { fixture async throws in
            let outcome = await fixture.run(["dead-letters", "show", "7/4711"])
            #expect(outcome.code == 1)
            #expect(outcome.errorOutput.contains("no dead letter 7/4711"))
        }
    }

    @Test(arguments: [
        ["dead-letters", "show", "17"], ["dead-letters", "show", "8/1"], ["dead-letters", "replay"],
        ["dead-letters", "replay", "0/1", "--all"], ["dead-letters", "dismiss", "0/1"],
        ["dead-letters", "replay", "--to", "1h"], ["dead-letters", "replay", "--all", "--from", "1h", "--to", "2h"],
    ])
    func `dead-letters refuses an ambiguous selection before it changes anything`(arguments: [String]) async {
        #expect(await CommandOutcome.of(arguments, environment: ["KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1"]).code == 64)
    }

    private func withDeadLetters(_ body: (DeadLetterFixture) async throws -> Void) async throws {
        try await PipelineHarness.with { harness async throws in
            let fixture = DeadLetterFixture(harness: harness)
            try await fixture.fill()
            try await body(fixture)
        }
    }

    /// A broker with three dead letters, and a database.
    private struct DeadLetterFixture {
        let harness: PipelineHarness

        static let receivedAt = Date(timeIntervalSince1970: 1_750_000_000)
        static let hour: TimeInterval = 3600

        var kafka: [String: String] { harness.broker.environment }

        func run(_ arguments: [String]) async -> CommandOutcome {
            await CommandOutcome.of(arguments, environment: harness.environment)
        }

        func list(_ arguments: String...) async throws -> [Row] {
            let outcome = await run(["dead-letters", "list", "--json"] + arguments)
            #expect(outcome.code == 0, "\(outcome.errorOutput)")
            return try outcome.json()
        }

        /// A forged JWS. The one with a wrong signature names another app.
        static func payload(_ name: String) -> [UInt8] {
            let (app, environment) =
                name == "signature" ? ("com.example.other", "Sandbox") : ("com.example.app", "Production")
            let json = """
                {"notificationUUID":"\(UUID(uuid: (9, 9, 9, 9, 9, 9, 0x49, 9, 0x89, 9, 9, 9, 9, 9, 9, 9)).uuidString)",\
                "notificationType":"DID_RENEW","data":{"bundleId":"\(app)","environment":"\(environment)",\
                "name":"\(name)"}}
                """
            return Array("aGVhZA.\(base64URL(json)).c2ln".utf8)
        }

        private static func base64URL(_ text: String) -> String {
            Data(text.utf8).base64EncodedString().replacingOccurrences(of: "+", with: "-")
                .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
        }

        func fill() async throws {
            for (index, reason) in ["signature", "app-unknown"].enumerated() {
                let received = ReceivedNotification(
                    signedPayload: Self.payload(reason), source: .webhook, receivedAt: Self.receivedAt)
                try await harness.producer.send([
                    deadLetter(received.record(), Topics.received.name, "verifier", reason, index)
                ])
            }
            let verified = VerifiedNotification(
                notificationUUID: UUID(), notificationType: "DID_RENEW", subtype: nil, environment: .production,
                bundleId: "com.example.app", appAppleId: nil, originalTransactionId: "1", transactionId: "1",
                signedDate: nil, receivedAt: Self.receivedAt, source: .webhook, traceparent: nil,
                decoded: Array("{}".utf8), signedPayload: Self.payload("undecodable"))
            try await harness.producer.send([
                deadLetter(verified.record(), Topics.unique.name, "state-updater", "undecodable", 2)
            ])
        }

        /// A record that the verifier rejected, which may be too large.
        func reject(_ payload: [UInt8]) async throws {
            let received = ReceivedNotification(
                signedPayload: payload, source: .webhook, receivedAt: Self.receivedAt)
            try await harness.producer.send([
                deadLetter(received.record(), Topics.received.name, "verifier", "too-large", 2)
            ])
        }

        /// Rejected two hours before now, one hour before, and now.
        private func deadLetter(
            _ record: WireRecord, _ topic: String, _ stage: String, _ reason: String, _ index: Int
        ) -> ProducerRecord {
            ProducerRecord(
                Topics.rejected,
                DeadLetter(
                    original: record, stage: stage, reason: reason, message: "it is so",
                    position: LogPosition(topic: topic, partition: 1, offset: 2),
                    rejectedAt: CommandOutcome.now.addingTimeInterval(Double(index - 2) * Self.hour), attempts: 1,
                    build: "test"))
        }

        /// What was sent through the pipeline again.
        func received() async throws -> [ReceivedNotification] {
            try await harness.broker.messages(of: Topics.received)
        }
    }
}
