import Contracts
import Foundation
import Pipeline
import Records
import Storage
import TestSupport
import Testing

@testable import Deduplicator

@Suite struct DeduplicateTests {
    static let uuid = UUID()

    static func delivery(
        _ uuid: UUID = uuid, offset: Int64, partition: Int32 = 0, source: NotificationSource = .webhook,
        content: String = "{}"
    ) throws -> Delivery<VerifiedRecord> {
        let verified = VerifiedNotification(
            notificationUUID: uuid, notificationType: "TEST", subtype: nil, environment: .sandbox,
            bundleId: "com.example.app", appAppleId: nil, originalTransactionId: nil, transactionId: nil,
            signedDate: nil, receivedAt: Date(milliseconds: 0), source: source, traceparent: nil,
            decoded: Array(content.utf8), signedPayload: Array("a.b.c".utf8))
        return Delivery(
            message: try VerifiedRecord(verified.record()),
            position: LogPosition(topic: Topics.verified.name, partition: partition, offset: offset))
    }

    /// The deliveries that pass, batch by batch, on one empty database.
    static func passes(_ batches: [[Delivery<VerifiedRecord>]]) async throws -> [[Bool]] {
        try await TestDatabase.connected { connection in
            let stage = Deduplicate(seen: SeenNotificationStore(connection), now: { Date(milliseconds: 1) })
            var passes: [[Bool]] = []
            for batch in batches {
                passes.append(
                    try await stage.process(batch).map { result in
                        switch result {
                        case .forward: true
                        case .discard(.repeated): false
                        default: throw UnexpectedVerdict()
                        }
                    })
            }
            await connection.close()
            return passes
        }
    }

    struct UnexpectedVerdict: Error {}

    @Test func `Deduplicator passes the first record of a notification and drops a copy`() async throws {
        let passes = try await Self.passes([[try Self.delivery(offset: 1)], [try Self.delivery(offset: 2)]])
        #expect(passes == [[true], [false]])
    }

    @Test func `Deduplicator drops a copy in the same batch`() async throws {
        let other = UUID()
        let batch = [try Self.delivery(offset: 1), try Self.delivery(other, offset: 2), try Self.delivery(offset: 3)]
        #expect(try await Self.passes([batch]) == [[true, true, false]])
    }

    @Test func `Deduplicator passes the first record again when that record is read again`() async throws {
        let batch = [try Self.delivery(offset: 1), try Self.delivery(offset: 2)]
        #expect(try await Self.passes([batch, batch, batch]) == [[true, false], [true, false], [true, false]])
    }

    @Test func `Deduplicator takes the same offset of another partition for a copy`() async throws {
        let passes = try await Self.passes([
            [try Self.delivery(offset: 1)], [try Self.delivery(offset: 1, partition: 1)],
        ])
        #expect(passes == [[true], [false]])
    }

    @Test(arguments: [NotificationSource.history, .replay])
    func `Deduplicator lets a replayed dead letter take over the notification`(source: NotificationSource) async throws
    {
        let first = try Self.delivery(offset: 1)
        let putBack = try Self.delivery(offset: 9, source: source)
        #expect(try await Self.passes([[first], [putBack], [putBack], [first]]) == [[true], [true], [true], [false]])
    }

    @Test func `Deduplicator takes an upload for a copy like any other`() async throws {
        let passes = try await Self.passes([
            [try Self.delivery(offset: 1)], [try Self.delivery(offset: 2, source: .upload)],
        ])
        #expect(passes == [[true], [false]])
    }

    @Test func `Deduplicator passes other content under a known uuid, for the ledger to flag, and drops its copies`()
        async throws
    {
        let first = try Self.delivery(offset: 1)
        let other = try Self.delivery(offset: 2, content: #"{"other":1}"#)
        let again = try Self.delivery(offset: 3, content: #"{"other":1}"#)
        let copy = try Self.delivery(offset: 4)
        let passes = try await Self.passes([[first, other], [again], [copy], [first]])
        #expect(passes == [[true, true], [true], [false], [true]])
    }
}
