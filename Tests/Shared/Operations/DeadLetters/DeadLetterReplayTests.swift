import Contracts
import Foundation
import Kafka
import Records
import Testing

@testable import Operations

/// Renewal information names no app: what is replayed without one, the verifier refuses.
@Suite struct DeadLetterReplayTests {
    static let time = Date(milliseconds: 1_700_000_000_000)

    /// A dead letter of a record that stood in a topic.
    static func replayed(_ original: WireRecord, from topic: String) throws -> ReceivedNotification {
        let deadLetter = DeadLetter(
            original: original, stage: "deduplicator", reason: "undecodable", message: "it is so",
            position: LogPosition(topic: topic, partition: 0, offset: 1), rejectedAt: time, attempts: 1, build: "test")
        let record = ProducerRecord(replaying: deadLetter)
        #expect(record.topic == Topics.received.name)
        return try ReceivedNotification(
            WireRecord(
                key: record.key, value: record.value,
                headers: record.headers.map { WireHeader($0.name, $0.value) }))
    }

    @Test(arguments: [Topics.received.name, Topics.deferred.name])
    func `DeadLetterReplay keeps the app of a record that was not verified`(topic: String) throws {
        let received = ReceivedNotification(
            signedPayload: Array("a.b.c".utf8), source: .history, receivedAt: Self.time, bundleId: "com.example.app")
        let replayed = try Self.replayed(received.record(), from: topic)
        #expect(replayed.bundleId == "com.example.app")
        #expect(replayed.source == .replay)
        #expect(replayed.signedPayload == received.signedPayload)
    }

    @Test func `Replay of a dead letter from behind the verifier keeps the app it was verified for`() throws {
        let verified = VerifiedNotification(
            notificationUUID: UUID(), notificationType: SignedPart.renewalInfo.rawValue, subtype: nil,
            environment: .production, bundleId: "com.example.app", appAppleId: nil, originalTransactionId: "1",
            transactionId: nil, signedDate: Self.time, receivedAt: Self.time, source: .history, traceparent: nil,
            decoded: Array(#"{"signedRenewalInfo":{}}"#.utf8), signedPayload: Array("a.b.c".utf8))
        let replayed = try Self.replayed(verified.record(), from: Topics.verified.name)
        #expect(replayed.bundleId == "com.example.app")
        #expect(try replayed.signedPayload == verified.signedPayload)
        #expect(replayed.receivedAt == Self.time)
    }

    @Test func `Replay of a notification of version 1 from behind the verifier sends what was kept of it`() throws {
        let kept = Array(#"{"notification_type":"CANCEL","bid":"com.example.app","environment":"PROD"}"#.utf8)
        let verified = VerifiedNotification(
            notificationUUID: UUID(), notificationType: VerifiedNotification.version1Type, subtype: "CANCEL",
            environment: .production, bundleId: "com.example.app", appAppleId: nil, originalTransactionId: nil,
            transactionId: nil, signedDate: nil, receivedAt: Self.time, source: .webhook, traceparent: nil,
            decoded: kept, signedPayload: [])
        for topic in [Topics.verified.name, Topics.unique.name] {
            #expect(try Self.replayed(verified.record(), from: topic).signedPayload == kept)
        }
    }
}
