import Contracts
import Foundation
import Testing

@Suite struct DeadLetterTests {
    static func letter(of original: WireRecord, message: String = "") -> DeadLetter {
        DeadLetter(
            original: original, stage: "verifier", reason: "signature", message: message,
            position: LogPosition(topic: "t", partition: 0, offset: 1), refusedAt: Date(milliseconds: 5), attempts: 2,
            build: "b")
    }

    @Test func `a dead letter refused again keeps the first refusal`() throws {
        let first = Self.letter(of: WireRecord(key: [1], value: [0, 255], headers: [.init("a", "b")]))
        let second = Self.letter(of: first.record())
        #expect(try DeadLetter(second.record()).original == first.record())
        #expect(try DeadLetter(try DeadLetter(second.record()).original) == first)
    }

    @Test func `a long message is cut at 512 bytes and stays text`() {
        let message = Self.letter(of: WireRecord(value: []), message: String(repeating: "é", count: 400)).message
        #expect(message == String(repeating: "é", count: 256))
    }

    @Test func `a record without dead-letter headers is no dead letter`() {
        #expect(throws: ContractFault.missing(Headers.deadLetterTopic)) { try DeadLetter(WireRecord(value: [])) }
    }
}
