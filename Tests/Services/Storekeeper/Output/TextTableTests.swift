import Testing

@testable import Storekeeper

struct TextTableTests {
    @Test func `Columns are as wide as their widest cell, numbers to the right`() {
        let table = TextTable(columns: ["name", .number("count")], rows: [["a", "1"], ["longer", "1000"]])
        #expect(table.lines == ["name    count", "a           1", "longer   1000"])
    }

    @Test func `Control characters are escaped before columns are measured`() {
        let table = TextTable(columns: ["name"], rows: [["\u{9B}2J"], ["\u{202E}abc"], ["line\nfeed"]])
        #expect(table.lines == ["name", #"\u009b2J"#, #"\u202eabc"#, #"line\u000afeed"#])
    }
}
