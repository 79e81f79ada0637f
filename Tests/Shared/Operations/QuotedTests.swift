import Operations
import Testing

@Suite struct QuotedTests {
    @Test func `A mark that a combining character follows ends no quotation`() {
        #expect("it's".shellQuoted == #"'it'\''s'"#)
        #expect("x'\u{301}; id; '\u{301}".shellQuoted == "'x'\\''\u{301}; id; '\\''\u{301}'")
        #expect("a\"\u{301},=1+1".csvField == "\"a\"\"\u{301},=1+1\"")
        #expect("a,\u{301}=1+1".csvField == "\"a,\u{301}=1+1\"")
        #expect("=\u{FE0F}1+1".csvField == "'=\u{FE0F}1+1")
        #expect("\r\n=1+1".csvField == "\"'\r\n=1+1\"")
        #expect("-1.5".csvField == "-1.5" && "plain".csvField == "plain" && "".csvField == "")
    }
}
