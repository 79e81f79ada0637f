import Commands
import Testing

@testable import Storekeeper

@Suite struct TerminalStyleTests {
    private static let table = TextTable(
        columns: ["purchase", .number("price")], rows: [["2000000000000001", "9990"], ["2000000000000002", "990"]])

    @Test func `Table that fits has a heading that stands out on a terminal, and is plain elsewhere`() {
        let terminal = TerminalStyle(environment: [:], columns: 80)
        #expect(Self.table.lines(in: terminal).first == "\u{1B}[1mpurchase          price\u{1B}[0m")
        #expect(Self.table.lines(in: terminal).dropFirst() == Self.table.lines.dropFirst())
        #expect(Self.table.lines(in: .none) == Self.table.lines)
    }

    @Test func `Table that is wider than the terminal has a line for each cell, and cuts nothing`() {
        let narrow = TerminalStyle(environment: ["NO_COLOR": "1"], columns: 20)
        #expect(
            Self.table.lines(in: narrow) == [
                "purchase  2000000000000001", "price     9990", "", "purchase  2000000000000002", "price     990",
            ])
    }

    @Test(arguments: [["NO_COLOR": "1"], ["TERM": "dumb"]])
    func `Colours are left out where the environment says so`(environment: [String: String]) {
        #expect(!TerminalStyle(environment: environment, columns: 80).hasColours)
        #expect(TerminalStyle(environment: ["NO_COLOR": "", "TERM": "xterm"], columns: 80).hasColours)
    }

    @Test func `Status says by colour whether something is wrong`() {
        let terminal = TerminalStyle(environment: [:], columns: 80)
        let lines = ["Storekeeper at noon: 1 problem", "Is anything missing?", "! a stage is behind"]
        #expect(
            StatusText.coloured(lines, in: terminal) == [
                "\u{1B}[31mStorekeeper at noon: 1 problem\u{1B}[0m", "\u{1B}[1mIs anything missing?\u{1B}[0m",
                "\u{1B}[31m! a stage is behind\u{1B}[0m",
            ])
        #expect(StatusText.coloured(lines, in: .none) == lines)
    }

    @Test func `Status keeps the colour of a line whose end a narrow terminal cuts`() {
        let terminal = TerminalStyle(environment: [:], columns: 18)
        let lines = ["Storekeeper at noon: 1 problem", "Is anything missing?", "  what is longer than that"]
        #expect(
            StatusText.coloured(lines, in: terminal, cutTo: 18) == [
                "\u{1B}[31mStorekeeper at noo\u{1B}[0m", "\u{1B}[1mIs anything missin\u{1B}[0m", "  what is longer t",
            ])
    }

    @Test(arguments: [
        (["statsu"], "storekeeper status"), (["dead-letters", "lits"], "storekeeper dead-letters list"),
        (["--verbose"], nil), (["status"], nil), (["xylophone"], nil), (["help", "events"], nil),
        (["help", "retention-messages", "list"], nil), (["help", "evnts"], "storekeeper events"),
    ])
    func `Misspelt command is told what it was to be`(arguments: [String], meant: String?) {
        #expect(CommandLineTool.suggestion(for: arguments) == meant)
    }
}
