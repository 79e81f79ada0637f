import StrictJSON
import Testing

@Suite struct JSONValueTests {
    private func root(_ text: String) throws -> JSONValue { try JSONDocument(Array(text.utf8)).root }

    @Test func `Members and elements are found in order`() throws {
        let value = try root(#"{"a":1,"b":{"c":[10,[20],{"d":30}]},"e\u0066":"x","z":null}"#)
        #expect(value.members.map(\.key) == ["a", "b", "ef", "z"])
        #expect(value["b"]?["c"]?.elements.map(\.kind) == [.number, .array, .object])
        #expect(value["b"]?["c"]?.elements[2]["d"]?.int64 == 30)
        #expect(value["ef"]?.string == "x")
        #expect(value["z"]?.isNull == true)
        #expect(value["missing"] == nil)
        #expect(value["a"]?["a"] == nil)
        #expect(value["a"]?.elements.isEmpty == true)
        #expect(try root("{}").members.isEmpty)
    }

    @Test func `Value of another kind is nil, never converted`() throws {
        let value = try root(#"{"s":"1","n":1,"b":true,"x":null}"#)
        #expect(value["s"]?.int64 == nil)
        #expect(value["s"]?.bool == nil)
        #expect(value["n"]?.string == nil)
        #expect(value["n"]?.bool == nil)
        #expect(value["b"]?.bool == true)
        #expect(value["b"]?.double == nil)
        #expect(value["x"]?.string == nil)
        #expect(value["x"]?.unescapedBytes == nil)
    }

    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("9223372036854775807", Int64.max), ("-9223372036854775808", Int64.min),
            ("1700000000000", 1_700_000_000_000), ("1.0", 1), ("1e3", 1000), ("9223372036854775808", nil),
            ("-9223372036854775809", nil), ("1.5", nil), ("1e400", nil), ("1e18", nil),
            ("9007199254740993", 9_007_199_254_740_993),
            ("99999999999999999999", nil),
        ] as [(String, Int64?)])
    func `Integers are exact or nil`(text: String, expected: Int64?) throws {
        #expect(try root(text).int64 == expected)
    }

    @Test(
        arguments: [
            ("1700000000000.123", 1_700_000_000_000.123), ("1.5e3", 1500), ("1e400", nil), ("12", 12), ("-0", -0.0),
            ("9007199254740993", 9_007_199_254_740_992),
        ] as [(String, Double?)])
    func `Fractions are read and infinities are nil`(text: String, expected: Double?) throws {
        #expect(try root(text).double == expected)
    }

    @Test func `Strings are unescaped completely`() throws {
        let value = try root(#""\"\\\/\b\f\n\r\t\u0041\u00e9\u20ac\uD83D\uDE00é""#)
        #expect(value.string == "\"\\/\u{8}\u{C}\n\r\tAé€😀é")
        #expect(value.unescapedBytes.map { String(decoding: $0, as: UTF8.self) } == value.string)
    }

    @Test func `Spans point at the exact source text`() throws {
        let document = try JSONDocument(Array(#" {"a": [1, 2] , "s":"plain","e":"\n"} "#.utf8))
        let array = try #require(document.root["a"])
        #expect(Array(array.rawBytes) == Array("[1, 2]".utf8))
        #expect(Array(document.bytes[array.range]) == Array("[1, 2]".utf8))
        let plain = try #require(document.root["s"]?.plainRange)
        #expect(Array(document.bytes[plain]) == Array("plain".utf8))
        #expect(document.root["e"]?.plainRange == nil)
        #expect(document.root["a"]?.plainRange == nil)
        #expect(document.root.range == 1..<(document.bytes.count - 1))
    }
}
