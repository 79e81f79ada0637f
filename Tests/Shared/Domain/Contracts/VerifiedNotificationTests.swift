import Contracts
import Records
import Testing

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

    @Test func `VerifiedNotification has the subscription as its key, else the notification`() throws {
        var verified = try GoldenTests.verified()
        #expect(verified.record().key == Array("2000000000000001".utf8))
        verified.originalTransactionId = nil
        #expect(verified.record().key == Array("002e14d5-51f5-4503-b5a8-c3a1af68eb20".utf8))
    }
}
