import Contracts
import Foundation
import Kafka
import Logging
import Pipeline
import Postgres
import Storage
import TestSupport
import Testing

@testable import Storekeeper

struct RejectedTests {
    private struct Row: Decodable {
        var id: String
        var stage: String
        var reason: String
        var state: String
        var notificationUUID: String?
    }

    @Test func `letters are listed, shown, put back and laid aside, and the trail says by whom`() async throws {
        try await withLetters { stand async throws in
            let all = try await stand.list()
            #expect(all.map(\.reason) == ["undecodable", "app-unknown", "signature"])
            #expect(all.allSatisfy { $0.state == "open" })
            #expect(try await stand.list("--stage", "verifier").map(\.reason) == ["app-unknown", "signature"])
            #expect(try await stand.list("--reason", "signature").count == 1)
            #expect(try await stand.list("--limit", "1").map(\.reason) == ["undecodable"])
            #expect(try await stand.list("--from", "90m").map(\.reason) == ["undecodable", "app-unknown"])

            let ours = try #require(all.first { $0.reason == "app-unknown" })
            let shown = await stand.run(["rejected", "show", ours.id])
            #expect(shown.text.contains("payload, NOT proven") && shown.text.contains("DID_RENEW"))
            #expect(shown.text.contains("app-unknown") && shown.text.contains("com.example.app"))

            let dry = await stand.run(["rejected", "replay", ours.id, "--dry-run"])
            #expect(dry.text == "1 dead letter would go back onto the line; the ledger has not got it.")
            #expect(try await stand.received() == [])
            let replayed = await stand.run(["rejected", "replay", ours.id, "--note", "was not configured"])
            #expect(replayed.code == 0, "\(replayed.complaint)")
            let received = try await stand.received()
            #expect(received.map(\.signedPayload) == [Stand.payload("app-unknown")])
            #expect(received.map(\.source) == [.replay])
            #expect(received.map(\.receivedAt) == [Stand.receivedAt])

            let bad = try #require(all.first { $0.reason == "signature" })
            #expect(await stand.run(["rejected", "resolve", bad.id]).code == 64)
            let resolved = await stand.run(["rejected", "resolve", bad.id, "--note", "forged", "--as", "peter"])
            #expect(resolved.text == "1 dead letter resolved.")
            let again = await stand.run(["rejected", "resolve", bad.id, "--note", "again", "--dry-run"])
            #expect(again.text == "1 dead letter would be resolved.")
            #expect(again.complaint.contains("\(bad.id) was resolved before") && again.complaint.contains("by peter"))
            let typo = await stand.run(["rejected", "list", "--handled", "--reason", "signatur"])
            let reasons = "app-unknown, signature, undecodable"
            #expect(typo.complaint == "No dead letter has the reason signatur; there are \(reasons).")

            #expect(try await stand.list().map(\.reason) == ["undecodable"])
            #expect(try await stand.list("--handled").map(\.state) == ["open", "replayed", "resolved"])
            let trail = await stand.run(["trail"])
            let lines = trail.text.split(separator: "\n")
            #expect(lines.count == 3)
            #expect(lines[1].contains("peter") && lines[1].contains("rejected.resolve") && lines[1].contains("forged"))
            #expect(lines[2].contains("olga") && lines[2].contains("rejected.replay") && lines[2].contains(ours.id))
            #expect(await stand.run(["rejected", "show", bad.id]).text.contains("by peter: forged"))
        }
    }

    @Test func `all open ones go back at once; what a later stage refused begins anew`() async throws {
        try await withLetters { stand async throws in
            #expect(await stand.run(["replay", "--rejected", "--dry-run"]).text.hasPrefix("3 dead letters"))
            #expect(await stand.run(["replay", "--rejected", "--stage", "state-updater"]).code == 0)
            #expect(try await stand.received().map(\.signedPayload) == [Stand.payload("undecodable")])
            // It is dealt with; the others are open.
            #expect(await stand.run(["rejected", "replay", "--all", "--dry-run"]).text.hasPrefix("2 dead letters"))
        }
    }

    @Test func `of letters that the ledger has already it is said before they go`() async throws {
        struct Summary: Decodable, Equatable {
            var dryRun: Bool
            var found: Int
            var known: Int
            var sent: Int
        }
        try await withLetters { stand async throws in
            let named = try await stand.list().compactMap(\.notificationUUID)
            let known = try #require(named.first.flatMap { UUID(uuidString: $0) })
            let ledger = SampleLedger(connection: TestDatabase.connection(stand.database))
            try await ledger.add(known, "DID_RENEW", nil, at: CommandOutcome.now, product: "pro")
            let dry = await stand.run(["rejected", "replay", "--all", "--dry-run", "--json"])
            #expect(try dry.json() == Summary(dryRun: true, found: 3, known: 3, sent: 0))
            let sent = await stand.run(["rejected", "replay", "--all", "--json"])
            #expect(try sent.json() == Summary(dryRun: false, found: 3, known: 3, sent: 3))
            #expect(sent.complaint.contains("3 dead letters go back onto the line; the ledger has all of them already"))
            #expect(try await stand.received().count == 3)
        }
    }

    @Test func `without a database the letters are listed and their state is unknown`() async throws {
        try await withLetters { stand async throws in
            let outcome = await CommandOutcome.of(["rejected", "list", "--json"], environment: stand.kafka)
            #expect(try outcome.json(as: [Row].self).map(\.state) == ["unknown", "unknown", "unknown"])
            var away = stand.kafka
            away["DATABASE_URL"] = "postgres://127.0.0.1:1/none"
            let listed = await CommandOutcome.of(["rejected", "list", "--json"], environment: away)
            #expect(listed.code == 0)
            #expect(try listed.json(as: [Row].self).map(\.state) == ["unknown", "unknown", "unknown"])
            #expect(listed.complaint.contains("The database does not say"))
            #expect(!listed.complaint.contains("\n"), "\(listed.complaint)")
            let replay = await CommandOutcome.of(["rejected", "replay", "--all"], environment: stand.kafka)
            #expect(replay.code == 78 && replay.complaint.contains("DATABASE_URL"))
        }
    }

    @Test func `a letter that is not there is named, with what is`() async throws {
        try await withLetters { stand async throws in
            let outcome = await stand.run(["rejected", "show", "7/4711"])
            #expect(outcome.code == 1)
            #expect(outcome.complaint.contains("there is no dead letter 7/4711"))
        }
    }

    @Test(arguments: [
        ["rejected", "show", "17"], ["rejected", "show", "8/1"], ["rejected", "replay"],
        ["rejected", "replay", "0/1", "--all"], ["replay"], ["replay", "--rejected", "--uuid", UUID().uuidString],
        ["replay", "--to", "1h"], ["replay", "--from", "1h", "--to", "2h"],
        ["replay", "--stage", "verifier", "--from", "2h", "--to", "1h"],
    ])
    func `what is unclear is refused before anything happens`(arguments: [String]) async {
        #expect(await CommandOutcome.of(arguments, environment: ["KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1"]).code == 64)
    }

    private func withLetters(_ body: (Stand) async throws -> Void) async throws {
        try await TestDatabase.use { database async throws in
            let broker = try DevelopmentBroker(
                topics: Topics.all.map { ($0.name, $0.partitions) }, logger: Logger.silent)
            defer { withExtendedLifetime(broker) {} }
            let stand = Stand(broker: broker, database: database)
            try await stand.fill()
            try await body(stand)
        }
    }

    /// A broker with three dead letters, and a database.
    private struct Stand {
        let broker: DevelopmentBroker
        let database: PostgresConfiguration

        static let receivedAt = Date(timeIntervalSince1970: 1_750_000_000)
        static let hour: TimeInterval = 3600

        var kafka: [String: String] { broker.environment }

        func run(_ arguments: [String]) async -> CommandOutcome {
            await CommandOutcome.of(arguments, environment: kafka.merging(database.environment) { _, new in new })
        }

        func list(_ arguments: String...) async throws -> [Row] {
            let outcome = await run(["rejected", "list", "--json"] + arguments)
            #expect(outcome.code == 0, "\(outcome.complaint)")
            return try outcome.json()
        }

        /// A JWS that anybody could write.
        static func payload(_ name: String) -> [UInt8] {
            let json = """
                {"notificationUUID":"\(UUID(uuid: (9, 9, 9, 9, 9, 9, 0x49, 9, 0x89, 9, 9, 9, 9, 9, 9, 9)).uuidString)",\
                "notificationType":"DID_RENEW","data":{"bundleId":"com.example.app","environment":"Production",\
                "name":"\(name)"}}
                """
            return Array("aGVhZA.\(base64URL(json)).c2ln".utf8)
        }

        private static func base64URL(_ text: String) -> String {
            Data(text.utf8).base64EncodedString().replacingOccurrences(of: "+", with: "-")
                .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
        }

        func fill() async throws {
            let producer = try Producer(broker.configuration, logger: .silent)
            for (index, reason) in ["signature", "app-unknown"].enumerated() {
                let received = ReceivedNotification(
                    signedPayload: Self.payload(reason), source: .webhook, receivedAt: Self.receivedAt)
                try await producer.send([letter(received.record(), Topics.received.name, "verifier", reason, index)])
            }
            let verified = VerifiedNotification(
                notificationUUID: UUID(), notificationType: "DID_RENEW", subtype: nil, environment: .production,
                bundleId: "com.example.app", appAppleId: nil, originalTransactionId: "1", transactionId: "1",
                signedDate: nil, receivedAt: Self.receivedAt, source: .webhook, traceparent: nil,
                decoded: Array("{}".utf8), signedPayload: Self.payload("undecodable"))
            try await producer.send([letter(verified.record(), Topics.unique.name, "state-updater", "undecodable", 2)])
            await producer.close(deadline: .seconds(5))
        }

        /// Refused two hours before now, one hour before, and now.
        private func letter(
            _ record: WireRecord, _ topic: String, _ stage: String, _ reason: String, _ index: Int
        ) -> ProducerRecord {
            ProducerRecord(
                Topics.rejected,
                DeadLetter(
                    original: record, stage: stage, reason: reason, message: "it is so",
                    position: LogPosition(topic: topic, partition: 1, offset: 2),
                    refusedAt: CommandOutcome.now.addingTimeInterval(Double(index - 2) * Self.hour), attempts: 1,
                    build: "test"))
        }

        /// What stands at the beginning of the line.
        func received() async throws -> [ReceivedNotification] {
            try await WrittenRecords.of(Topics.received.route, at: broker.configuration).map {
                try ReceivedNotification(WireRecord($0))
            }
        }
    }
}
