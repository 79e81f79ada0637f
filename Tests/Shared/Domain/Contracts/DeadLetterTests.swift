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

    @Test(arguments: [true, false])
    func `DeadLetter of a record that is too large for Kafka holds its beginning, and says so`(isValue: Bool) throws {
        let bytes = [UInt8](repeating: UInt8(ascii: "a"), count: 1_048_000)
        let small = WireHeader("source", "webhook")
        let original = WireRecord(
            key: [7], value: isValue ? bytes : [1], headers: [small] + (isValue ? [] : [WireHeader("large", bytes)]))
        let record = Self.deadLetter(of: original, message: "not a JWS").record()
        let size = record.headers.reduce(record.value.count) { $0 + $1.name.utf8.count + $1.value.count }
        #expect(size < 10_000)
        let read = try DeadLetter(record)
        #expect(read.original.key == [7] && read.original.headers == [small])
        #expect(read.original.value == (isValue ? Array(bytes.prefix(1024)) : [1]))
        #expect(read.message.hasPrefix("of its 1048"), "\(read.message)")
        #expect(read.message.hasSuffix("this is the beginning; not a JWS"))
        #expect(read.isBeginning)
    }

    @Test(arguments: [
        "not a JWS", "of its 12 bytes this is the beginning; not a JWS", "of its many bytes this is the beginning; no",
        "of its 1048000 bytes",
    ])
    func `DeadLetter of a whole record is no beginning, whatever its message says`(message: String) {
        #expect(!Self.deadLetter(of: WireRecord(value: [1]), message: message).isBeginning)
    }

    @Test func `DeadLetter needs dead-letter headers`() {
        #expect(throws: ContractFault.missing(Headers.deadLetterTopic)) { try DeadLetter(WireRecord(value: [])) }
    }
}
