import Contracts
import Foundation
import TestSupport
import Testing

@testable import SimulatedAppStore

@Suite struct RunRecordWriterTests {
    @Test func `Record reads what was written`() throws {
        try withBook { path in
            let signer = try RunRecordWriter(path: path)
            try signer.write(.notification(genuine))
            try signer.write(.attempt(attempt(1, status: 503)))
            try signer.write(.attempt(attempt(2, failure: "timed out")))
            try signer.write(.attempt(attempt(3, status: 200)))
            try signer.close()
            let record = try read(path)
            #expect(record.notifications == [genuine])
            #expect(
                record.attempts == [
                    genuine.uuid: [
                        attempt(1, status: 503), attempt(2, failure: "timed out"), attempt(3, status: 200),
                    ]
                ])
            #expect(record.arrival(of: genuine.uuid) == .certain)
        }
    }

    @Test func `Every fact survives the file, present or absent`() throws {
        for event in PopulationTests.events(500, seed: 2) {
            let line = RunRecord.Line.notification(NotificationSigner.entry(for: PendingNotification(event: event)))
            #expect(try RunRecord.Line(decoding: line.encoded.dropLast()) == line)
        }
    }

    @Test func `Answer to a refund request survives the file, every byte of its body`() throws {
        let answer = RunRecord.RefundAnswer(
            environment: .sandbox, bundleId: "com.example.app", transactionId: "1", at: 5, version: 2,
            body: #"{"customerConsented":true, "x":"\u00e9\n"}"#)
        let line = RunRecord.Line.refundAnswer(answer)
        #expect(try RunRecord.Line(decoding: line.encoded.dropLast()) == line)
    }

    @Test(arguments: [(200, nil), (nil, "timed out")] as [(Int?, String?)])
    func `Upload survives the file`(status: Int?, failure: String?) throws {
        let upload = RunRecord.Upload(
            uuid: genuine.uuid, moment: "after", transactionId: "1", at: 5, status: status, failure: failure)
        let line = RunRecord.Line.upload(upload)
        #expect(try RunRecord.Line(decoding: line.encoded.dropLast()) == line)
        #expect(try RunRecord(reading: line.encoded).uploads == [upload])
    }

    @Test func `Each line can be read before the record is closed`() throws {
        try withBook { path in
            let signer = try RunRecordWriter(path: path)
            try signer.write(.notification(genuine))
            #expect(try read(path).notifications == [genuine])
            try signer.write(.attempt(attempt(1, status: 200)))
            #expect(try read(path).arrival(of: genuine.uuid) == .certain)
            try signer.close()
        }
    }

    @Test func `Torn last line is left out, and removed before the record is continued`() throws {
        try withBook { path in
            let line = RunRecord.Line.notification(genuine).encoded
            try Data(line + line.prefix(40)).write(to: URL(fileURLWithPath: path))
            #expect(try read(path).notifications.count == 1)
            let signer = try RunRecordWriter(path: path)
            try signer.write(.notification(genuine))
            try signer.close()
            #expect(try read(path).notifications == [genuine, genuine])
        }
    }

    @Test func `Line of an unknown kind is skipped`() throws {
        let text = #"{"line":"weather","sky":"blue"}"# + "\n"
        let record = try RunRecord(reading: Array(text.utf8) + RunRecord.Line.notification(genuine).encoded)
        #expect(record.notifications == [genuine])
    }

    @Test func `Unreadable line in the middle is an error that names it`() throws {
        let bytes = RunRecord.Line.notification(genuine).encoded + Array("{}\n{}\n".utf8)
        let failure = #expect(throws: DecodingError.self) { try RunRecord(reading: bytes) }
        #expect("\(try #require(failure))".contains("line 2"))
    }

    @Test func `Notification without an answer may have arrived or not`() throws {
        var record = RunRecord()
        record.add(.notification(genuine))
        #expect(record.arrival(of: genuine.uuid) == .possible)
        record.add(.attempt(attempt(1, status: 400)))
        #expect(record.arrival(of: genuine.uuid) == .impossible)
        record.add(.attempt(attempt(2, status: 503)))
        #expect(record.arrival(of: genuine.uuid) == .possible)
        record.add(.attempt(attempt(3, status: 206)))
        #expect(record.arrival(of: genuine.uuid) == .certain)
    }

    @Test func `Expected facts are those of the newest stored genuine notification`() throws {
        var record = RunRecord()
        var newer = genuine
        newer.uuid = "00000000-0000-4000-8000-000000000002"
        newer.signedDate += 1
        var forged = newer
        forged.uuid = "00000000-0000-4000-8000-000000000003"
        forged.signedDate += 1
        forged.expectedRejection = "signature"
        let purchase = RunRecord.Purchase(environment: .production, originalTransactionId: "100")
        newer.facts?.status = 2
        for notification in [newer, genuine, forged] { record.add(.notification(notification)) }
        #expect(record.expectedFacts { _ in true } == [purchase: try #require(newer.facts)])
        #expect(record.expectedFacts { $0 == genuine.uuid } == [purchase: try #require(genuine.facts)])
        #expect(record.expectedFacts { _ in false }.isEmpty)
    }

    @Test func `Refund of an older period sets the status, and nothing of the newest transaction`() throws {
        var refund = genuine
        refund.uuid = "00000000-0000-4000-8000-000000000002"
        refund.signedDate += 1
        refund.transactionId = "100"
        refund.facts?.purchaseDate = 0
        refund.facts?.revocationDate = 7
        refund.facts?.autoRenewStatus = 0
        var record = RunRecord()
        for notification in [genuine, refund] { record.add(.notification(notification)) }
        let expected = try #require(record.expectedFacts { _ in true }.values.first)
        #expect(expected.purchaseDate == 1)
        #expect(expected.revocationDate == nil)
        #expect(expected.autoRenewStatus == 0)
    }

    @Test func `Access is expected where every notification of a purchase is stored, as the newest change says it`() {
        var first = genuine
        first.productType = "Auto-Renewable Subscription"
        first.access = [.init(productId: "basic", startsAt: 1, endsAt: 2, isGrace: false)]
        var second = genuine
        second.uuid = "00000000-0000-4000-8000-000000000002"
        second.signedDate += 1
        second.access = [
            .init(productId: "basic", startsAt: 1, endsAt: 2, isGrace: false),
            .init(productId: "basic", startsAt: 2, endsAt: nil, isGrace: true),
        ]
        var third = second
        third.uuid = "00000000-0000-4000-8000-000000000003"
        third.signedDate += 1
        third.access = nil
        var record = RunRecord()
        for notification in [first, third, second] { record.add(.notification(notification)) }
        let expected = record.expectedAccess { _ in true }
        #expect(expected.values.map(\.periods) == [second.access])
        #expect(expected.values.map(\.followedUntil) == [third.signedDate])
        #expect(record.expectedAccess { $0 != second.uuid }.isEmpty)
    }

    @Test func `Expected access survives the file`() throws {
        var notification = genuine
        notification.productType = "Consumable"
        notification.access = [
            .init(productId: "basic", startsAt: 1, endsAt: 2, isGrace: false),
            .init(productId: "basic", startsAt: 2, endsAt: nil, isGrace: true),
        ]
        let read = try RunRecord(reading: RunRecord.Line.notification(notification).encoded)
        #expect(read.notifications == [notification])
    }

    @Test func `Record that cannot be opened is an error`() {
        #expect(throws: (any Error).self) { try RunRecordWriter(path: "/nowhere/at/all/record.jsonl") }
    }

    private let genuine = RunRecord.Notification(
        uuid: "00000000-0000-4000-8000-000000000001", notificationType: "DID_RENEW", subtype: nil,
        environment: .production, bundleId: "com.example.app", originalTransactionId: "100", transactionId: "101",
        signedDate: 1_790_000_000_123, expectedRejection: nil,
        facts: RunRecord.Facts(
            status: 1, productId: "com.example.app.basic", purchaseDate: 1, expiresDate: 2, revocationDate: nil,
            revocationReason: nil, appAccountToken: nil, autoRenewStatus: 1, autoRenewProductId: "x",
            isInBillingRetryPeriod: nil, gracePeriodExpiresDate: nil, expirationIntent: nil))

    private func attempt(_ number: Int, status: Int? = nil, failure: String? = nil) -> RunRecord.Attempt {
        RunRecord.Attempt(
            uuid: genuine.uuid, attempt: number, at: 1_790_000_000_000, status: status, failure: failure,
            isRepetition: false)
    }

    private func read(_ path: String) throws -> RunRecord {
        try RunRecord(reading: Array(Data(contentsOf: URL(fileURLWithPath: path))))
    }

    private func withBook(_ body: (String) throws -> Void) throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try body(directory.path("record.jsonl"))
    }
}
