import Contracts
import Foundation
import Records
import Testing

@Suite struct DeadLetterTests {
    static func deadLetter(of original: WireRecord, message: String = "") -> DeadLetter {
        DeadLetter(
            original: original, stage: "verifier", reason: "signature", message: message,
            position: LogPosition(topic: "t", partition: 0, offset: 1), rejectedAt: Date(milliseconds: 5), attempts: 2,
            build: "b")
    }

    @Test func `DeadLetter that is rejected again keeps the first rejection`() throws {
        let first = Self.deadLetter(of: WireRecord(key: [1], value: [0, 255], headers: [.init("a", "b")]))
        let second = Self.deadLetter(of: first.record())
        #expect(try DeadLetter(second.record()).original == first.record())
        #expect(try DeadLetter(try DeadLetter(second.record()).original) == first)
    }

    @Test func `DeadLetter cuts a long message at 512 bytes and keeps it text`() {
        let message = Self.deadLetter(of: WireRecord(value: []), message: String(repeating: "é", count: 400)).message
        #expect(message == String(repeating: "é", count: 256))
    }

    @Test func `DeadLetter needs dead-letter headers`() {
        #expect(throws: ContractFault.missing(Headers.deadLetterTopic)) { try DeadLetter(WireRecord(value: [])) }
    }
}
