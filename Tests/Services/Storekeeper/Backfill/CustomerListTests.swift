import AppStore
import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import Storekeeper

struct CustomerListTests {
    @Test func `Ids are read once each, whatever stands around them`() throws {
        let text = "2000000000000001\r\n\n  2000000000000002  # Ada\n# none\n2000000000000001\n3"
        #expect(try CustomerList(text).customers.map(\.id) == ["2000000000000001", "2000000000000002", "3"])
    }

    @Test func `Line ends of Windows part ids that together are as short as one`() throws {
        let list = try CustomerList("470000000000001\r\n470000000000002\r\n")
        #expect(list.customers.map(\.id) == ["470000000000001", "470000000000002"])
    }

    @Test func `A byte order mark is no part of a list of ids, nor of a document`() throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try directory.write("ids.txt", "\u{FEFF}470000000000001\r\n\u{FEFF}470000000000002\r\n")
        let file = directory.path("ids.txt")
        #expect(
            try CustomerList(FilePieces(path: file).text()).customers.map(\.id) == [
                "470000000000001", "470000000000002",
            ])
        #expect(try String(ofFile: file).hasPrefix("47"))
    }

    @Test(arguments: [
        "", "# none\n", "1\nada@example.com\n", "1,2,3", "{\"id\": 1}", "²", "12345678901234567890123456789012",
    ])
    func `File of something else is rejected`(text: String) {
        #expect(throws: ValidationError.self) { try CustomerList(text) }
    }

    @Test func `Receipt is its customer, once, and one that cannot be read holds up no other`() throws {
        let receipt = Self.receipt(of: "com.example.app", ["2000000000000001", "2000000000000007"])
        let list = try CustomerList(
            "5\n\(receipt)\n2000000000000007\n\(receipt.dropLast(4))\n\(String(repeating: "?", count: 300))\n6\n")
        #expect(list.customers.map(\.id) == ["5", "2000000000000001", "6"])
        #expect(list.customers.map(\.bundleId) == [nil, "com.example.app", nil])
        #expect(list.faults.map(\.line) == [4, 5])
        #expect(list.faults.map(\.fault) == [.cut, .notBase64])
    }

    @Test func `File that cannot be read ends backfill with 1, not as a wrong command line`() async {
        let outcome = await CommandOutcome.of(["backfill", "/nowhere/ids.txt", "--dry-run"])
        #expect(outcome.code == 1 && outcome.errorOutput.contains("/nowhere/ids.txt cannot be read"), "\(outcome)")
    }

    @Test func `Receipt of a tester or of another app is not asked about where Apple does not know it`() throws {
        let list = try CustomerList(
            [
                Self.receipt(of: "com.example.app", ["1"]),
                Self.receipt(of: "com.example.app", ["2"], type: "ProductionSandbox"),
                Self.receipt(of: "com.example.other", ["3"]), "4",
            ].joined(separator: "\n"))
        let production = list.parted(for: "com.example.app", in: .production)
        #expect(production.ids == ["1", "4"] && production.strangers.map(\.id) == ["2", "3"])
        #expect(
            production.strangers.map(\.place) == [
                "of another environment: Sandbox", "of another app: com.example.other",
            ])
        let sandbox = list.parted(for: "com.example.app", in: .sandbox)
        #expect(sandbox.ids == ["2", "4"] && sandbox.strangers.first?.place == "of another environment: Production")
    }

    /// In Apple's layout, unsigned; longer than an id.
    static func receipt(of bundleId: String, _ ids: [String], type: String = "Production") -> String {
        func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
            [tag, 0x82, UInt8(content.count >> 8), UInt8(content.count & 0xFF)] + content
        }
        func attribute(_ type: Int, _ content: [UInt8]) -> [UInt8] {
            value(0x30, [2, 2, UInt8(type >> 8), UInt8(type & 0xFF), 2, 1, 1] + value(4, content))
        }
        let purchases = ids.map { attribute(17, value(0x31, attribute(1705, value(0x0C, Array($0.utf8))))) }
        let place = [(0, type), (2, bundleId)].flatMap { attribute($0.0, value(0x0C, Array($0.1.utf8))) }
        let payload = value(0x31, place + purchases.flatMap { $0 })
        let pkcs7: [UInt8] = [0x06, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7]
        let body = value(0x30, [2, 1, 1, 0x31, 0] + value(0x30, pkcs7 + [1] + value(0xA0, value(4, payload))))
        return Data(value(0x30, pkcs7 + [2] + value(0xA0, body))).base64EncodedString()
    }
}
