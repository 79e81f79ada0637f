import Contracts
import Foundation
import Testing

@testable import Simulator

@Suite struct BookWriterTests {
    @Test func `what was written is what is read`() throws {
        try withBook { path in
            let writer = try BookWriter(path: path)
            try writer.write(.notification(genuine))
            try writer.write(.attempt(attempt(1, status: 503)))
            try writer.write(.attempt(attempt(2, failure: "timed out")))
            try writer.write(.attempt(attempt(3, status: 200)))
            try writer.close()
            let book = try read(path)
            #expect(book.notifications == [genuine])
            #expect(
                book.attempts == [
                    genuine.uuid: [
                        attempt(1, status: 503), attempt(2, failure: "timed out"), attempt(3, status: 200),
                    ]
                ])
            #expect(book.arrival(of: genuine.uuid) == .certain)
        }
    }

    @Test func `every fact survives the file, said or not said`() throws {
        for notice in PopulationTests.notices(500, seed: 2) {
            let line = SimulatorBook.Line.notification(LetterWriter.entry(for: Draft(notice: notice)))
            #expect(try SimulatorBook.Line(decoding: line.encoded.dropLast()) == line)
        }
    }

    @Test func `each line can be read by others before the book is closed`() throws {
        try withBook { path in
            let writer = try BookWriter(path: path)
            try writer.write(.notification(genuine))
            #expect(try read(path).notifications == [genuine])
            try writer.write(.attempt(attempt(1, status: 200)))
            #expect(try read(path).arrival(of: genuine.uuid) == .certain)
            try writer.close()
        }
    }

    @Test func `a torn last line is left out, and removed before the book is continued`() throws {
        try withBook { path in
            let line = SimulatorBook.Line.notification(genuine).encoded
            try Data(line + line.prefix(40)).write(to: URL(fileURLWithPath: path))
            #expect(try read(path).notifications.count == 1)
            let writer = try BookWriter(path: path)
            try writer.write(.notification(genuine))
            try writer.close()
            #expect(try read(path).notifications == [genuine, genuine])
        }
    }

    @Test func `a line of a later kind is skipped`() throws {
        let text = #"{"line":"weather","sky":"blue"}"# + "\n"
        let book = try SimulatorBook(reading: Array(text.utf8) + SimulatorBook.Line.notification(genuine).encoded)
        #expect(book.notifications == [genuine])
    }

    @Test func `a line in the middle that is not ours is an error that says which`() throws {
        let bytes = SimulatorBook.Line.notification(genuine).encoded + Array("{}\n{}\n".utf8)
        let failure = #expect(throws: DecodingError.self) { try SimulatorBook(reading: bytes) }
        #expect("\(try #require(failure))".contains("line 2"))
    }

    @Test func `without an answer a notification may have arrived or not`() throws {
        var book = SimulatorBook()
        book.add(.notification(genuine))
        #expect(book.arrival(of: genuine.uuid) == .possible)
        book.add(.attempt(attempt(1, status: 400)))
        #expect(book.arrival(of: genuine.uuid) == .impossible)
        book.add(.attempt(attempt(2, status: 503)))
        #expect(book.arrival(of: genuine.uuid) == .possible)
        book.add(.attempt(attempt(3, status: 206)))
        #expect(book.arrival(of: genuine.uuid) == .certain)
    }

    @Test func `the newest stored genuine notification says what must be believed`() throws {
        var book = SimulatorBook()
        var newer = genuine
        newer.uuid = "00000000-0000-4000-8000-000000000002"
        newer.signedDate += 1
        var forged = newer
        forged.uuid = "00000000-0000-4000-8000-000000000003"
        forged.signedDate += 1
        forged.forgery = "signature"
        for notification in [newer, genuine, forged] { book.add(.notification(notification)) }
        let purchase = SimulatorBook.Purchase(environment: .production, originalTransactionId: "100")
        #expect(book.newest { _ in true } == [purchase: newer])
        #expect(book.newest { $0 == genuine.uuid } == [purchase: genuine])
        #expect(book.newest { _ in false }.isEmpty)
    }

    @Test func `a book that cannot be opened says so`() {
        #expect(throws: (any Error).self) { try BookWriter(path: "/nowhere/at/all/book.jsonl") }
    }

    private let genuine = SimulatorBook.Notification(
        uuid: "00000000-0000-4000-8000-000000000001", notificationType: "DID_RENEW", subtype: nil,
        environment: .production, bundleId: "com.example.app", originalTransactionId: "100", transactionId: "101",
        signedDate: 1_790_000_000_123, forgery: nil,
        facts: SimulatorBook.Facts(
            status: 1, productId: "com.example.app.basic", purchaseDate: 1, expiresDate: 2, revocationDate: nil,
            revocationReason: nil, appAccountToken: nil, autoRenewStatus: 1, autoRenewProductId: "x",
            isInBillingRetryPeriod: nil, gracePeriodExpiresDate: nil, expirationIntent: nil))

    private func attempt(_ number: Int, status: Int? = nil, failure: String? = nil) -> SimulatorBook.Attempt {
        SimulatorBook.Attempt(
            uuid: genuine.uuid, attempt: number, at: 1_790_000_000_000, status: status, failure: failure,
            isRepetition: false)
    }

    private func read(_ path: String) throws -> SimulatorBook {
        try SimulatorBook(reading: Array(Data(contentsOf: URL(fileURLWithPath: path))))
    }

    private func withBook(_ body: (String) throws -> Void) throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try body(directory.path("book.jsonl"))
    }
}
