import Records
import TestSupport
import Testing

@testable import Contracts

@Suite struct VerifiedNotificationTests {
    @Test(arguments: [
        ("", ContractFault.notJSON("")),
        ("{}", .missing("version")),
        (#"{"version":2}"#, .unknownVersion(2)),
        (#"{"version":1}"#, .missing("notificationUUID")),
        (#"{"version":1,"notificationUUID":"x"}"#, .missing("notificationUUID")),
    ])
    func `VerifiedNotification reports any other record as a fault of the record`(value: String, fault: ContractFault) {
        let thrown = #expect(throws: ContractFault.self) {
            try VerifiedNotification(WireRecord(value: Array(value.utf8)))
        }
        if case .notJSON = fault, case .notJSON = thrown { return }
        #expect(thrown == fault)
    }

    private static func sample(seed: UInt64) throws -> VerifiedNotification {
        var verified = try GoldenTests.verified()
        verified.original = SignedOriginal(encoding: SignedSample.likeApple(seed: seed))
        verified.decoded = try #require(try verified.original.document())
        return verified
    }

    @Test func `The content of a notification is not written beside its original, which says the same`() throws {
        let verified = try Self.sample(seed: 3)
        #expect(
            String(decoding: verified.decoded, as: UTF8.self).contains(#""signedTransactionInfo":{"transactionId":"3""#)
        )
        let value = verified.record().value
        let packed = verified.original.blob.count + verified.original.headers.reduce(0) { $0 + $1.count }
        #expect(value.count < packed + 300)
        #expect(try VerifiedNotification(verified.record()) == verified)
        var other = verified
        other.decoded = Array(#"{"status":1}"#.utf8)
        #expect(try VerifiedNotification(other.record()) == other)
    }

    @Test func `A value that is cut anywhere is a fault of the record`() throws {
        let record = try Self.sample(seed: 4).record()
        for count in 1..<record.value.count {
            let cut = WireRecord(key: record.key, value: Array(record.value.prefix(count)), headers: record.headers)
            #expect(throws: ContractFault.self) { try VerifiedNotification(cut) }
        }
    }

    @Test(arguments: 0..<400 as Range<UInt64>)
    func `What is read of a value of which any byte was changed can be restored`(seed: UInt64) throws {
        var record = try Self.sample(seed: 5).record()
        var generator = SeededGenerator(state: seed)
        // The rest of the value is one long header, of which every byte is valid.
        let interesting = Array(0..<300) + Array(record.value.count - 400..<record.value.count)
        record.value[try #require(interesting.randomElement(using: &generator))] = .random(
            in: 0...255, using: &generator)
        guard let read = try? VerifiedNotification(record) else { return }
        _ = try read.signedPayload
    }

    @Test func `A value of a newer version names it`() {
        #expect(throws: ContractFault.unknownVersion(3)) { try VerifiedNotification(WireRecord(value: [3, 0])) }
    }

    @Test func `VerifiedNotification has the subscription as its key, else the notification`() throws {
        var verified = try GoldenTests.verified()
        #expect(verified.record().key == Array("2000000000000001".utf8))
        verified.originalTransactionId = nil
        #expect(verified.record().key == Array("002e14d5-51f5-4503-b5a8-c3a1af68eb20".utf8))
    }

    @Test func `VerifiedNotification is genuine only where Apple signed what a customer did`() throws {
        let signed = try Self.sample(seed: 5)
        #expect(signed.isGenuine && !signed.isVersion1)
        var test = signed
        test.notificationType = "TEST"
        #expect(!test.isGenuine)
        var version1 = signed
        version1.notificationType = "V1"
        #expect(version1.isVersion1 && !version1.isGenuine)
        var unsigned = signed
        unsigned.original = SignedOriginal(encoding: [])
        #expect(!unsigned.isGenuine)
        #expect(!(try VerifiedNotification(unsigned.record()).isGenuine))
    }
}
