import StrictJSON
import Testing

@Suite struct JSONDocumentTests {
    private func fault(_ text: String, limits: JSONLimits = JSONLimits()) -> JSONFault? {
        fault(Array(text.utf8), limits: limits)
    }

    private func fault(_ bytes: [UInt8], limits: JSONLimits = JSONLimits()) -> JSONFault? {
        do {
            _ = try JSONDocument(bytes, limits: limits)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        "null", " true ", "false", "0", "-0", "12", "-1.5e+10", "1E3", "\"\"", "[]", "{}", "[ ]", "{ }",
        "[1,[2,[3]],{\"a\":{}}]", "{\"a\":1,\"b\":[true,null]}", "\t\r\n[1 , 2]\n", "\"\\u00e9\\uD83D\\uDE00\\/\"",
        "\"é😀\"", "{\"\":1}", "\"\u{FFFF}\"",
    ])
    func `Document that RFC 8259 allows is read`(text: String) {
        #expect(fault(text) == nil)
    }

    @Test(arguments: [
        ("", 0), (" ", 1), ("tru", 3), ("nul!", 3), ("01", 1), ("-", 1), ("1.", 2), ("1e", 2), (".5", 0), ("+1", 0),
        ("[1,]", 3), ("[1 2]", 3), ("{\"a\"}", 4), ("{\"a\":}", 5), ("{a:1}", 1), ("{\"a\":1,}", 7), ("[", 1), ("{", 1),
        ("\"abc", 4), ("\"\\x\"", 2), ("\"\\u12g4\"", 5), ("'a'", 0), ("[1}", 2), ("{\"a\":1]", 6), ("\"a\nb\"", 2),
        ("NaN", 0), ("\"\\", 2), ("[1,,2]", 3), ("]", 0), ("\"\\u12", 5),
    ])
    func `Document that RFC 8259 forbids is rejected at its place`(text: String, position: Int) {
        let fault = fault(text)
        #expect(fault == .syntax(at: position) || fault == .trailing(at: position))
    }

    @Test func `Byte order mark, other encodings and broken UTF-8 are rejected`() {
        #expect(fault([0xEF, 0xBB, 0xBF, 0x31]) == .encoding(at: 0))
        #expect(fault([0x5B, 0x00, 0x5D, 0x00]) == .syntax(at: 1))
        let broken: [[UInt8]] = [
            [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x9F, 0xBF], [0xED, 0xA0, 0x80], [0xF0, 0x8F, 0xBF, 0xBF],
            [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xE2, 0x82], [0xC3], [0xE2, 0x28, 0xA1],
            [0xF0, 0x9F, 0x98, 0x28], [0xFF],
        ]
        for bytes in broken {
            #expect(fault([0x22] + bytes + [0x22]) == .encoding(at: 1), "\(bytes)")
            #expect(fault([0x22] + bytes) == .encoding(at: 1), "\(bytes) at the end")
        }
    }

    @Test func `Surrogates alone are rejected, pairs are read`() {
        for text in [#""\uD800""#, #""\uDC00""#, #""\uD83D\u0041""#, #""\uD83Dx12345""#, #""\uDE00\uD83D""#] {
            #expect(fault(text) == .encoding(at: 1), "\(text)")
        }
    }

    @Test func `NUL is rejected raw and escaped, in strings and keys`() {
        #expect(fault(#""a\u0000""#) == .nul(at: 2))
        #expect(fault(#"{"\u0000":1}"#) == .nul(at: 2))
        #expect(fault([0x22, 0x61, 0x00, 0x22]) == .nul(at: 2))
    }

    @Test func `Duplicate keys are rejected however they are written`() {
        #expect(fault(#"{"a":1,"b":2,"a":3}"#) == .duplicateKey("a"))
        #expect(fault(#"{"bundleId":1,"b\u0075ndleId":2}"#) == .duplicateKey("bundleId"))
        #expect(fault(#"{"a":{"x":1,"x":2}}"#) == .duplicateKey("x"))
        #expect(fault(#"{"":1,"":2}"#) == .duplicateKey(""))
        #expect(fault(#"{"a":{"x":1},"b":{"x":2},"x":[{"a":1},{"a":1}]}"#) == nil)
        // Canonically equivalent in Unicode, different as bytes: two keys.
        #expect(fault("{\"\u{E9}\":1,\"e\u{301}\":2}") == nil)
    }

    @Test func `Duplicate keys are found among thousands of keys and among similar keys`() {
        let many = (0..<5000).map { "\"key\($0)\":1" }
        #expect(fault("{" + many.joined(separator: ",") + "}") == nil)
        #expect(fault("{" + (many + ["\"key77\":2"]).joined(separator: ",") + "}") == .duplicateKey("key77"))
        #expect(fault(#"{"12345678aaaa12345678":1,"12345678bbbb12345678":2}"#) == nil)
        #expect(
            fault(#"{"12345678aaaa12345678":1,"12345678aaaa12345678":2}"#) == .duplicateKey("12345678aaaa12345678"))
    }

    @Test func `Nesting is counted and limited without using the stack`() {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(fault(nested(16)) == nil)
        #expect(fault(nested(17)) == .depth(limit: 16))
        #expect(fault(String(repeating: "{\"a\":", count: 100_000)) == .depth(limit: 16))
        #expect(fault(nested(100_000), limits: JSONLimits(depth: 100_000)) == nil)
    }

    @Test func `Length is limited, and bytes after the value are rejected`() {
        #expect(fault("[1,2,3]", limits: JSONLimits(bytes: 6)) == .tooLarge(limit: 6))
        #expect(fault("{} {}") == .trailing(at: 3))
        #expect(fault("1 \u{0}") == .trailing(at: 2))
    }

    @Test func `Special bytes are found at every place of a long string`() throws {
        for length in 0..<70 {
            for place in 0...length {
                var content = [UInt8](repeating: UInt8(ascii: "x"), count: length)
                content.insert(contentsOf: Array("\\n".utf8), at: place)
                let document = try JSONDocument([0x22] + content + [0x22])
                var expected = [UInt8](repeating: UInt8(ascii: "x"), count: length)
                expected.insert(0x0A, at: place)
                #expect(document.root.unescapedBytes == expected)
                for bad: UInt8 in [0x00, 0x1F, 0x80, 0xFF] {
                    content[place] = bad
                    #expect(fault([0x22] + content + [0x22]) != nil)
                }
            }
        }
    }

    @Test func `Every prefix of a document is rejected, and no read goes past its end`() {
        let text = Array(#"{"a":[1.5e3,true,null,"é\u00e9\uD83D\uDE00"],"b":{"c":false}}"#.utf8)
        for length in 0..<text.count {
            #expect(fault(Array(text[..<length])) != nil)
        }
        #expect(fault(text) == nil)
    }

    @Test func `Fault says what is wrong and where`() {
        #expect(JSONFault.syntax(at: 7).description == "JSON syntax error at byte 7")
        #expect(JSONFault.duplicateKey("a").description == "JSON object has the key \"a\" twice")
    }
}
