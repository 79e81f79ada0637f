import StrictJSON
import Testing

@Suite struct JSONWriterTests {
    @Test func `Members, elements and nesting get their commas`() {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("s", "x")
        writer.member("n", -5 as Int64)
        writer.member("b", true)
        writer.member("z", nil as String?)
        writer.beginArray("a")
        writer.element("e")
        writer.element(7)
        writer.element(raw: Array("{}".utf8))
        writer.beginObject()
        writer.endObject()
        writer.endArray()
        writer.beginObject("o")
        writer.member("r", raw: Array("[1, 2]".utf8))
        writer.endObject()
        writer.member("last", 1)
        writer.endObject()
        #expect(
            String(decoding: writer.bytes, as: UTF8.self)
                == #"{"s":"x","n":-5,"b":true,"z":null,"a":["e",7,{},{}],"o":{"r":[1, 2]},"last":1}"#)
    }

    @Test func `Integers are written with all of their digits`() {
        let numbers = [0, 9, 10, -1, 1_234_567_890, .max, .min] as [Int64]
        var writer = JSONWriter()
        writer.beginArray()
        for number in numbers { writer.element(number) }
        writer.endArray()
        #expect(String(decoding: writer.bytes, as: UTF8.self) == "[\(numbers.map(String.init).joined(separator: ","))]")
    }

    @Test func `Every string survives writing and reading`() throws {
        var scalars = (1...0x2FF).compactMap(Unicode.Scalar.init)
        scalars += ["\u{20AC}", "\u{1F600}", "\u{2028}"]
        let text = String(String.UnicodeScalarView(scalars))
        var writer = JSONWriter()
        writer.beginObject()
        writer.member(text, text)
        writer.endObject()
        let root = try JSONDocument(writer.bytes).root
        #expect(root[text]?.string == text)
    }
}
