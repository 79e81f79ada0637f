import Testing

@testable import Storekeeper

struct SeparatedValuesTests {
    private func records(_ text: String, pieces: Int = 1) throws -> [SeparatedValues.Record] {
        var values = SeparatedValues()
        var records: [SeparatedValues.Record] = []
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            records += try values.append(bytes.prefix(pieces))
            bytes = bytes.dropFirst(pieces)
        }
        if let last = try values.finish() { records.append(last) }
        return records
    }

    @Test(arguments: [1, 2, 7, 1000])
    func `Records are the same however the file is cut`(pieces: Int) throws {
        let text = "a;b;c\r\n1;\"two; \"\"quoted\"\"\nlines\";3\n\n;;\nlast;[\"x\"];é"
        #expect(
            try records(text, pieces: pieces) == [
                .init(line: 1, fields: ["a", "b", "c"]), .init(line: 2, fields: ["1", "two; \"quoted\"\nlines", "3"]),
                .init(line: 5, fields: ["", "", ""]), .init(line: 6, fields: ["last", "[\"x\"]", "é"]),
            ])
    }

    @Test func `A quotation mark within a field is a part of it`() throws {
        #expect(
            try records("id,device,note\n1,5\" phone,a\n2,6\" phone,\"b\"\"c\"\n").dropFirst() == [
                .init(line: 2, fields: ["1", "5\" phone", "a"]), .init(line: 3, fields: ["2", "6\" phone", "b\"c"]),
            ])
        // To Swift a mark with a combining character is another character.
        #expect(try records("id,note\n1,\"b\"\"\u{301}c\"\n").last?.fields == ["1", "b\"\u{301}c"])
    }

    @Test(arguments: [("a,b;c,d", 3), ("a;b", 2), ("a\tb\tc", 3), ("\"a,b,c\";d", 2), ("one", 1)])
    func `The separator is that of the header`(header: String, count: Int) throws {
        #expect(try records(header + "\n").first?.fields.count == count)
    }

    @Test func `A quotation mark that is not closed is a fault that names the line`() throws {
        let fault = #expect(throws: SeparatedValues.Fault.self) { try records("a,b\n1,2\n\"3,4\n5,6\n") }
        #expect(fault?.line == 3 && fault?.reason.contains("not closed") == true)
    }

    @Test func `A record without an end stops at a limit`() throws {
        var values = SeparatedValues()
        let piece = Array(repeating: UInt8(ascii: "x"), count: 1 << 20)
        #expect(throws: SeparatedValues.Fault.self) { for _ in 0..<9 { _ = try values.append(piece) } }
    }
}
