import Contracts
import Foundation
import Records
import Testing

/// A client that may write to a topic chooses what its records say. No number may end a service, or keep back the records beside
/// it for ever.
@Suite struct ImpossibleNumbersTests {
    private static let most = Int64.max

    private static func record(_ json: String) -> WireRecord { WireRecord(value: Array(json.utf8)) }

    @Test(arguments: [
        #""instance":"a","minute":\#(Int64.max),"accepted":1,"rejected":{}"#,
        #""instance":"a","minute":\#(Int64.min),"accepted":1,"rejected":{}"#,
        #""instance":"a","minute":0,"accepted":\#(Int64.max),"rejected":{}"#,
        #""instance":"a","minute":0,"accepted":1,"rejected":{"500":\#(Int64.max),"503":\#(Int64.max)}"#,
        #""instance":"a","minute":0,"accepted":1,"rejected":{"500":-1}"#,
        #""instance":"\#(String(repeating: "a", count: 513))","minute":0,"accepted":1,"rejected":{}"#,
    ])
    func `What no minute can have is no heartbeat`(members: String) {
        #expect(throws: ContractFault.self) { try IngestHeartbeat(Self.record(#"{"version":1,\#(members)}"#)) }
    }

    private static func request(id: String = "1", from: Int64 = 0, to: Int64 = 0, at: Int64 = 0) -> WireRecord {
        record(
            #"{"version":1,"environment":"Sandbox","originalTransactionId":"\#(id)","bundleId":"a","skipped":[],"#
                + #""before":"\#(UUID().uuidString)","from":\#(from),"to":\#(to),"requestedAt":\#(at)}"#)
    }

    @Test func `A request with a date or a key that cannot be stored is none`() throws {
        #expect(try RecoveryRequest(Self.request()).to == Date(milliseconds: 0))
        #expect(try RecoveryRequest(Self.request(from: Self.most)).from == nil)
        let id = String(repeating: "1", count: 513)
        for record in [Self.request(id: id), Self.request(to: Self.most), Self.request(at: -Self.most)] {
            #expect(throws: ContractFault.self) { try RecoveryRequest(record) }
        }
    }

    @Test func `An attempt of an impossible date is left out, and its notification stays`() throws {
        let attempts = #"[{"attemptedAt":\#(Self.most),"result":"OTHER"},{"attemptedAt":5,"result":"SUCCESS"}]"#
        let page = try HistoryPage(
            Self.record(
                #"{"version":1,"window":"\#(UUID().uuidString)","environment":"Sandbox","bundleId":"a","page":0,"#
                    + #""part":0,"items":[{"signedPayload":"a.b.c","sendAttempts":\#(attempts)}],"fetchedAt":1}"#))
        #expect(page.items.map(\.signedPayload) == [Array("a.b.c".utf8)])
        #expect(page.items.flatMap(\.sendAttempts).map(\.result) == ["SUCCESS"])
    }

    @Test func `A notification or a dead letter of a date that cannot be stored is none`() {
        let genuine = ReceivedNotification(signedPayload: [1], source: .webhook, receivedAt: Date(milliseconds: 1))
        var received = genuine.record()
        received.headers.append(WireHeader(Headers.receivedAt, "\(Self.most)"))
        #expect(throws: ContractFault.missing(Headers.receivedAt)) { try ReceivedNotification(received) }
        var deadLetter = DeadLetterTests.deadLetter(of: WireRecord(value: [1])).record()
        deadLetter.headers.append(WireHeader(Headers.deadLetterTime, "\(-Self.most)"))
        #expect(throws: ContractFault.missing(Headers.deadLetterTime)) { try DeadLetter(deadLetter) }
    }
}
