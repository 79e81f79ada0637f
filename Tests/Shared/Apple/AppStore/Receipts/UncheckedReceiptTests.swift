import Foundation
import Signatures
import Testing

@testable import AppStore
@testable import AppStoreSamples

@Suite struct UncheckedReceiptTests {
    @Test func `Original ids of purchases and the app are read from a receipt`() throws {
        let receipt = try UncheckedReceipt(SampleReceipt.signed(SampleReceipt.payload())[...])
        #expect(receipt.bundleId == "com.example.app")
        #expect(receipt.originalTransactionIds == ["2000000000000001", "2000000000000007"])
        let text = Base64.encode(SampleReceipt.signed(SampleReceipt.payload()), .standard)
        #expect(try UncheckedReceipt(base64: text[...]) == receipt)
    }

    @Test(arguments: [("ProductionVPP", AppStoreEnvironment.production), ("ProductionSandbox", .sandbox)])
    func `A receipt says which environment it is of`(type: String, environment: AppStoreEnvironment) throws {
        let payload = SampleReceipt.payload(environment: type)
        #expect(try UncheckedReceipt(SampleReceipt.signed(payload)[...]).environment == environment)
    }

    @Test(arguments: [[], ["-stream"]])
    func `UncheckedReceipt reads what OpenSSL signs, also where lengths are known only at the end`(options: [String])
        throws
    {
        let bytes = try SampleReceipt.signedByOpenSSL(SampleReceipt.payload(), options)
        #expect((bytes[1] == 0x80) == !options.isEmpty, "the form that was meant")
        let receipt = try UncheckedReceipt(bytes[...])
        #expect(receipt.originalTransactionIds == ["2000000000000001", "2000000000000007"])
    }

    @Test func `Purchase without an original id is its own`() throws {
        let payload = SampleReceipt.payload(purchases: [[(1703, "17")], [(1702, "gold")], [(1703, "8"), (1705, "")]])
        #expect(try UncheckedReceipt(SampleReceipt.signed(payload)[...]).originalTransactionIds == ["17"])
    }

    @Test func `Receipt in which nothing was bought says so`() {
        let payload = SampleReceipt.payload(purchases: [])
        #expect(throws: ReceiptFault.withoutPurchases) { try UncheckedReceipt(SampleReceipt.signed(payload)[...]) }
    }

    @Test(arguments: ["", "a", "AAAA====", "not base64 at all", "eyJh.eyJi.c2ln"])
    func `Bytes that are no receipt are a fault, not a crash`(text: String) {
        #expect(throws: ReceiptFault.self) { try UncheckedReceipt(base64: Array(text.utf8)[...]) }
    }

    @Test func `Id that is none is never asked about`() {
        for id in ["../../v1/x", "1 2", "12345678901234567890123456789012", "²"] {
            let payload = SampleReceipt.payload(purchases: [[(1705, id)]])
            #expect(throws: ReceiptFault.self, "\(id)") { try UncheckedReceipt(SampleReceipt.signed(payload)[...]) }
        }
    }

    @Test func `Receipt that is cut anywhere is a fault, and nothing is read of it`() {
        let whole = SampleReceipt.signed(SampleReceipt.payload())
        for end in 0..<whole.count {
            #expect(throws: ReceiptFault.self, "\(end)") { try UncheckedReceipt(whole[..<end]) }
        }
        #expect(throws: ReceiptFault.malformed("1 bytes follow its end")) { try UncheckedReceipt((whole + [0])[...]) }
    }

    @Test func `Receipt of indefinite lengths that is cut anywhere is a fault, too`() throws {
        let whole = try SampleReceipt.signedByOpenSSL(SampleReceipt.payload(), ["-stream"])
        for end in 0..<whole.count {
            #expect(throws: ReceiptFault.self, "\(end)") { try UncheckedReceipt(whole[..<end]) }
        }
    }

    @Test func `Receipt with any one byte changed is read or rejected, and every id is a number`() {
        let whole = SampleReceipt.signed(SampleReceipt.payload())
        var read = 0
        for index in whole.indices {
            for bit in [UInt8(0x01), 0x20, 0x80, 0xFF] {
                var changed = whole
                changed[index] ^= bit
                guard let receipt = try? UncheckedReceipt(changed[...]) else { continue }
                read += 1
                #expect(receipt.originalTransactionIds.allSatisfy { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } })
            }
        }
        #expect(read > 0 && read < whole.count * 4)
    }

    static let hostile: [[UInt8]] = [
        Array([[UInt8]](repeating: [0x30, 0x80], count: 100_000).joined()),
        [0x24, 0x84, 0xFF, 0xFF, 0xFF, 0xFF], [0x30, 0x88, 1, 1, 1, 1, 1, 1, 1, 1], [0x04, 0x80, 0, 0],
        [0x3F, 0x81, 0, 0],
    ]

    @Test(arguments: hostile)
    func `Receipt that would exhaust stack or memory is rejected`(bytes: [UInt8]) {
        #expect(throws: ReceiptFault.self) { try UncheckedReceipt(bytes[...]) }
    }
}
