import Testing

@testable import Storekeeper

struct PrettyJSONTests {
    @Test func `order and spelling survive`() {
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

    @Test func `what is not JSON has no text`() {
        #expect(PrettyJSON(Array("{".utf8)) == nil)
    }
}
