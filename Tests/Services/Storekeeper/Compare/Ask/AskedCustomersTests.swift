import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import Storekeeper

struct AskedCustomersTests {
    private static func ids(_ content: Data) throws -> [String] {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try content.write(to: directory.url("ids.txt"))
        return try AskedCustomers(FilePieces(path: directory.path("ids.txt"))).ids
    }

    @Test func `Ids are listed once each, without the byte order mark and line ends of other systems`() throws {
        #expect(try Self.ids(Data("\u{FEFF}user-1\r\n\r\n\u{FEFF}user-2\r\nuser-1\r\n".utf8)) == ["user-1", "user-2"])
    }

    @Test func `An id that is not UTF-8 is no question about another customer`() throws {
        #expect(throws: ValidationError.self) { try Self.ids(Data([0x6D, 0xFC, 0x6C, 0x0A])) }
    }
}
