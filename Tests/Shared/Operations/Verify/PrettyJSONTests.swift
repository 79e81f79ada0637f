import Testing

@testable import Operations

struct PrettyJSONTests {
    @Test func `Order and spelling survive`() {
        let source = #"{"b":[1.50,{"x":null}],"a":"\u00e4","e":{},"l":[]}"#
        let pretty = """
            {
              "b": [
                1.50,
                {
                  "x": null
                }
              ],
              "a": "\\u00e4",
              "e": {},
              "l": []
            }
            """
        #expect(PrettyJSON(Array(source.utf8))?.text == pretty)
    }

    @Test func `Control characters are shown and not obeyed`() {
        let source = "{\"a\u{202E}b\":\"x\u{7F}y\u{9B}z\u{2028}\u{E0001}\"}"
        let pretty = #"""
            {
              "a\u202eb": "x\u007fy\u009bz\u2028\udb40\udc01"
            }
            """#
        #expect(PrettyJSON(Array(source.utf8))?.text == pretty)
    }

    @Test func `Bytes that are no JSON have no text`() {
        #expect(PrettyJSON(Array("{".utf8)) == nil)
    }
}
