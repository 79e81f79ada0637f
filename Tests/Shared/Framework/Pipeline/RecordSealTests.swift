import Contracts
import Foundation
import Kafka
import Records
import TestSupport
import Testing

@testable import Chassis
@testable import Pipeline

@Suite struct RecordSealTests {
    private static let key = [UInt8](repeating: 1, count: 32)
    private static let other = [UInt8](repeating: 2, count: 32)
    private static let seal = RecordSeal(keys: [key])

    private static func sealed(by seal: RecordSeal = seal) -> WireRecord {
        let record = ProducerRecord(
            topic: "t", key: Array("k".utf8), value: Array("value".utf8),
            headers: [
                RecordHeader(name: Headers.source, value: Array("history".utf8)),
                RecordHeader(name: Headers.traceparent, value: Array("a".utf8)),
            ])
        return WireRecord(seal.sealed(record))
    }

    @Test func `Seal is valid for the record as it was written, and for no other`() {
        let record = Self.sealed()
        #expect(Self.seal.isValid(record))
        var changed: [WireRecord] = []
        func change(_ body: (inout WireRecord) -> Void) {
            var copy = record
            body(&copy)
            changed.append(copy)
        }
        change { $0.value[0] ^= 1 }
        change { $0.value = [] }
        change { $0.key = nil }
        change { $0.key = [] }
        change { $0.headers.removeAll { $0.name == Headers.source } }
        change { $0.headers.insert(WireHeader(Headers.status, "1"), at: 0) }
        change { $0.headers.removeAll { $0.name == Headers.seal } }
        change { record in record.headers.append(record.headers.last { $0.name == Headers.seal } ?? WireHeader("", ""))
        }
        // Bytes that move from one member to the next.
        change { record in
            record.key = Array("kv".utf8)
            record.value = Array("alue".utf8)
        }
        for record in changed { #expect(!Self.seal.isValid(record), "\(record)") }
    }

    @Test func `Seal allows another trace header, as every process writes its own span`() {
        var record = Self.sealed()
        record.headers.removeAll { $0.name == Headers.traceparent }
        record.headers.append(WireHeader(Headers.traceparent, "b"))
        #expect(Self.seal.isValid(record))
    }

    @Test func `Seal keys rotate: the first seals, all are accepted, and a removed one is rejected`() {
        let old = Self.sealed()
        let both = RecordSeal(keys: [Self.other, Self.key])
        let new = Self.sealed(by: both)
        #expect(both.isValid(old))
        #expect(both.isValid(new))
        #expect(!Self.seal.isValid(new))
        #expect(!RecordSeal(keys: [Self.other]).isValid(old))
    }

    @Test func `Seal without a key is not written and not required`() {
        let none = RecordSeal()
        let record = Self.sealed(by: none)
        #expect(record.headers.allSatisfy { $0.name != Headers.seal })
        #expect(none.isValid(record))
        #expect(!Self.seal.isValid(record))
    }

    @Test func `Seal key file that is missing, empty or holds a short key is a problem of the configuration`() throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        for content in [nil, "", "\n\n", "short\n", String(repeating: "a", count: 64) + "\nshort"] {
            let file = directory.path("keys")
            if let content { try directory.write("keys", content) }
            #expect(throws: ConfigurationProblems.self, "\(content ?? "missing")") { _ = try RecordSeal(file: file) }
        }
        let file = try directory.write(
            "good", String(repeating: "a", count: 64) + "\r\n\n" + String(repeating: "b", count: 32))
        #expect(try RecordSeal(file: file).isOn)
        #expect(try !RecordSeal(file: nil).isOn)
    }

    /// Topics whose records need no seal, because Apple's signature proves them or nothing in them is trusted, are unchanged.
    @Test func `Seal is required of records that are trusted, and one written by hand is rejected`() async throws {
        let verified = VerifiedNotification(
            notificationUUID: UUID(), notificationType: "SUBSCRIBED", subtype: nil, environment: .production,
            bundleId: "com.example.app", appAppleId: nil, originalTransactionId: "1", transactionId: "1",
            signedDate: nil, receivedAt: Date(milliseconds: 0), source: .webhook, traceparent: nil,
            decoded: Array("{}".utf8), signedPayload: Array("a.b.c".utf8))
        try await Self.expectRejected(verified)
        try await Self.expectRejected(UniqueNotification(verified.record()))
        try await Self.expectRejected(Self.received(.history))
        try await Self.expectRejected(Self.received(.replay))
        for source in [NotificationSource.webhook, .upload] {
            #expect(!ReceivedNotification.needsSeal(Self.received(source).record()))
        }
    }

    private static func received(_ source: NotificationSource) -> ReceivedNotification {
        ReceivedNotification(
            signedPayload: Array("a.b.c".utf8), source: source, receivedAt: Date(milliseconds: 0),
            status: AnsweredStatus(status: 1, askedAt: Date(milliseconds: 0)))
    }

    private static func expectRejected<Message: TopicMessage>(
        _ message: Message, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let byHand = message.record()
        let own = WireRecord(
            seal.sealed(
                ProducerRecord(
                    topic: "t", key: byHand.key, value: byHand.value,
                    headers: byHand.headers.map { RecordHeader(name: $0.name, value: $0.value) })))
        let records = [byHand, own].enumerated().map { index, wire in
            Batch.Record(
                wire: wire, position: LogPosition(topic: "t", partition: 0, offset: Int64(index)), timestamp: nil)
        }
        let processed = try await Batch(records: records).processed(by: Pass<Message>(), seal: seal)
        #expect(processed.forwarded.map(\.record.position.offset) == [1], sourceLocation: sourceLocation)
        guard case .deadLetter(.undecodable, let text) = processed.results[0] else {
            Issue.record("it was accepted", sourceLocation: sourceLocation)
            return
        }
        #expect(text.contains("no valid seal"), sourceLocation: sourceLocation)
    }
}

private struct Pass<Message: TopicMessage>: Stage {
    enum Reason: String, StageReason {
        case undecodable
        var countsTowardsRejectionLimit: Bool { true }
    }

    func process(_ deliveries: [Delivery<Message>]) -> [StageResult<Message, Reason>] {
        deliveries.map { .forward($0.message) }
    }
}

extension WireRecord {
    fileprivate init(_ record: ProducerRecord) {
        self.init(
            key: record.key, value: record.value, headers: record.headers.map { WireHeader($0.name, $0.value) })
    }
}
