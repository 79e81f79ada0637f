import Contracts
import Foundation
import Kafka
import Pipeline
import Records
import TestSupport
import Testing

@testable import Storekeeper

struct RecordsShowTests {
    private static func verified() throws -> VerifiedNotification {
        VerifiedNotification(
            notificationUUID: UUID(), notificationType: "DID_RENEW", subtype: nil, environment: .production,
            bundleId: "com.example.app", appAppleId: 7, originalTransactionId: "2000000000000001", transactionId: nil,
            signedDate: nil, receivedAt: Date(milliseconds: 1_700_000_001_000), source: .webhook, traceparent: nil,
            decoded: Array(#"{"notificationType":"DID_RENEW"}"#.utf8), signedPayload: SignedSample.likeApple(seed: 8))
    }

    @Test func `records show prints a record between the workers as JSON, the newest one by default`() async throws {
        try await PipelineHarness.with(topics: [Topics.unique.route, Topics.received.route]) { harness async throws in
            let verified = try Self.verified()
            try await harness.producer.send([
                ProducerRecord(Topics.unique, UniqueNotification(verified.record()))
            ])
            let written = try await harness.broker.records(
                of: Topics.unique.name, partitions: Topics.unique.route.partitions, until: { !$0.isEmpty })
            let position = written.map { "\($0.partition)/\($0.offset)" }
            struct Shown: Decodable {
                struct Payload: Decodable {
                    var notificationUUID: UUID
                    var originalTransactionId: String
                    var signedPayload: String
                    var decoded: [String: String]
                }
                var key: String
                var payload: Payload
            }
            for arguments in [[], [try #require(position.first)]] {
                let outcome = await CommandOutcome.of(
                    ["records", "show", "notifications.unique"] + arguments + ["--json"],
                    environment: harness.environment)
                #expect(outcome.code == 0, "\(outcome.errorOutput)")
                let shown: Shown = try outcome.json()
                #expect(shown.key == "2000000000000001")
                #expect(shown.payload.notificationUUID == verified.notificationUUID)
                #expect(shown.payload.originalTransactionId == "2000000000000001")
                #expect(shown.payload.decoded == ["notificationType": "DID_RENEW"])
                #expect(Array(shown.payload.signedPayload.utf8) == (try verified.signedPayload))
            }
            let text = await CommandOutcome.of(
                ["records", "show", "notifications.unique"], environment: harness.environment)
            #expect(text.text.contains("ce_type: apple.app-store.DID_RENEW"))
            let outside = await CommandOutcome.of(
                ["records", "show", "notifications.unique", "0/99"], environment: harness.environment)
            #expect(outside.code == 1 && outside.errorOutput.contains("no record 0/99: partition 0"))
            let empty = await CommandOutcome.of(
                ["records", "show", "notifications.received"], environment: harness.environment)
            #expect(empty.code == 1 && empty.errorOutput.contains("notifications.received holds no record"))
        }
    }

    @Test(arguments: [
        (["notifications.uniqe"], "there are notifications.received"), (["notifications.unique", "3"], "such as 3/17"),
    ])
    func `records show names what is wrong with its arguments`(arguments: [String], message: String) async {
        let outcome = await CommandOutcome.of(["records", "show"] + arguments, environment: [:])
        #expect(outcome.code == 64 && outcome.errorOutput.contains(message), "\(outcome.errorOutput)")
    }
}
