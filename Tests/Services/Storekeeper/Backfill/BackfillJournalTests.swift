import Commands
import Foundation
import TestSupport
import Testing

@testable import Storekeeper

struct BackfillJournalTests {
    @Test func `BackfillJournal has what was noted done for the next run, and a torn line not`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/progress"
        do {
            let first = try BackfillJournal(at: path, of: "app Production")
            #expect(first.done.isEmpty)
            try first.note("1")
            try first.note("20")
        }
        // As a crash in the middle of a write leaves it.
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.seekToEnd()
        try file.write(contentsOf: Data("30".utf8))
        try file.close()
        do {
            let second = try BackfillJournal(at: path, of: "app Production")
            #expect(second.done == ["1", "20"])
            try second.note("300")
        }
        #expect(try BackfillJournal(at: path, of: "app Production").done == ["1", "20", "300"])
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "# app Production\n1\n20\n300\n")
    }

    @Test(arguments: [Data("2000000000000001".utf8), Data([0x1F, 0x8B, 0xFF, 0xFE]), Data([0xFF, 0x0A, 0xFF])])
    func `BackfillJournal refuses a file of something else, and leaves it as it is`(content: Data) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/progress"
        try content.write(to: URL(filePath: path))
        let fault = #expect(throws: CommandError.self) { try BackfillJournal(at: path, of: "app Production") }
        #expect(fault?.description.contains("something else") == true)
        #expect(try Data(contentsOf: URL(filePath: path)) == content)
    }

    @Test func `BackfillJournal begins again where a crash cut its heading`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/progress"
        try Data("# app Pro".utf8).write(to: URL(filePath: path))
        do { try BackfillJournal(at: path, of: "app Production").note("1") }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "# app Production\n1\n")
    }

    @Test func `BackfillJournal reports a file that cannot be written before any request`() {
        #expect(throws: CommandError.self) { try BackfillJournal(at: "/no/such/directory/progress", of: "app") }
    }

    @Test func `BackfillJournal keeps apps and environments apart, and what is in progress is not done`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/progress"
        do {
            let journal = try BackfillJournal(at: path, of: "app Production")
            try journal.note("1")
            let twice = #expect(throws: CommandError.self) { try BackfillJournal(at: path, of: "app Production") }
            #expect(twice?.description.contains("another backfill") == true)
        }
        let elsewhere = #expect(throws: CommandError.self) { try BackfillJournal(at: path, of: "app Sandbox") }
        #expect(elsewhere?.description.contains("of another app or environment") == true)
        #expect(try BackfillJournal(at: path, of: "app Production").done == ["1"])
    }
}
