import Commands
import Testing

@testable import Operations
@testable import Storekeeper

struct ProgressLineTests {
    private static func line(_ done: Int, before: Int = 0, seconds: Int = 10) -> ProgressLine {
        ProgressLine(noun: "customers", total: 1000, done: done, doneBefore: before, elapsed: .seconds(seconds))
    }

    @Test func `Rate and time left are those of this run`() {
        #expect(Self.line(100).text == "100 of 1000 customers (10 %), 10 a second, 90 s left")
        #expect(Self.line(520, before: 500).text == "520 of 1000 customers (52 %), 2.0 a second, 4 min left")
    }

    @Test func `ProgressLine shows no time left before the first and after the last item`() {
        #expect(Self.line(0, seconds: 0).text == "0 of 1000 customers (0 %)")
        #expect(Self.line(500, before: 500).text == "500 of 1000 customers (50 %)")
        #expect(Self.line(1000).text == "1000 of 1000 customers (100 %), 100 a second")
    }

    @Test func `Bar fills from left to right and never overflows`() {
        #expect(Self.line(0).bar(width: 4).hasPrefix("[....] "))
        #expect(Self.line(500).bar(width: 4).hasPrefix("[##..] "))
        #expect(Self.line(1000).bar(width: 4).hasPrefix("[####] "))
        #expect(ProgressLine(noun: "x", total: 0, done: 0, elapsed: .zero).bar(width: 2).hasPrefix("[##] 0 of 0"))
    }

    @Test(arguments: [(59, "59 s"), (720, "12 min"), (11_100, "3 h 5 min"), (187_200, "2 d 4 h")])
    func `Spans are read at a glance`(seconds: Int, text: String) {
        #expect(TimeSpan.text(seconds: seconds) == text)
    }
}
