import Contracts
import Foundation
import Operations
import Testing

@testable import Storekeeper

/// What the records of a file say about access.
struct ImportReaderAccessTests {
    private static let reader = ImportReader(
        bundleId: "com.example.app", environment: .production, now: Date(timeIntervalSince1970: 1_795_000_000))

    /// What a line with a stored answer of verifyReceipt says.
    private static func access(_ transactions: String, renewals: String = "[]") -> AccessEntry {
        let line = """
            {"customerId":"a","receipt":{"environment":"Production","receipt":{"bundle_id":"com.example.app"},\
            "latest_receipt_info":\(transactions),"pending_renewal_info":\(renewals)}}
            """
        return reader.access(ofLine: Array(line.utf8), line: 1)
    }

    private static func records(_ entry: AccessEntry) -> [IncumbentRecord] {
        guard case .records(_, _, let records) = entry else { return [] }
        return records
    }

    private static func at(_ seconds: Double) -> Date { Date(timeIntervalSince1970: seconds) }

    @Test func `A grace period prolongs the newest period of its purchase alone`() {
        let entry = Self.access(
            """
            [{"original_transaction_id":"1","transaction_id":"3","product_id":"plus","expires_date_ms":"3000000"},\
            {"original_transaction_id":"1","transaction_id":"1","product_id":"basic","expires_date_ms":"1000000"},\
            {"original_transaction_id":"2","transaction_id":"2","product_id":"pro","expires_date_ms":"2000000"}]
            """, renewals: #"[{"original_transaction_id":"1","grace_period_expires_date_ms":"4000000"}]"#)
        let records = Self.records(entry)
        #expect(records.map(\.endsAt) == [Self.at(4000), Self.at(1000), Self.at(2000)], "\(entry)")
        #expect(records.map(\.graceEndsAt) == [Self.at(4000), nil, nil])
    }

    @Test func `Ids of a stored answer may be numbers, as import reads them`() {
        let entry = Self.access(
            #"[{"original_transaction_id":100,"transaction_id":101,"product_id":"pro","expires_date_ms":3000000}]"#)
        #expect(Self.records(entry).map(\.purchase) == ["100"], "\(entry)")
        #expect(Self.records(entry).map(\.endsAt) == [Self.at(3000)])
    }

    @Test(arguments: [#""nan""#, #""1e300""#, "1e300", #""soon""#, "true"])
    func `A moment that is none makes its line unusable, and no access without end`(moment: String) {
        let entry = Self.access(
            #"[{"original_transaction_id":"1","transaction_id":"1","product_id":"pro","expires_date_ms":\#(moment)}]"#)
        #expect(entry == .fault("expires_date_ms is no time"))
    }

    /// What a record of an own table says, to a comparison and to an import.
    private static func faults(_ fields: String...) throws -> (compared: String?, imported: String?) {
        let columns = try #require(
            ImportColumns(argument: "customerId=id,originalTransactionId=purchase,productId=product,expiresAt=until"))
        let record = ImportRecord(
            SeparatedValues.Record(line: 2, fields: fields), ["id", "purchase", "product", "until"])
        var faults: (compared: String?, imported: String?)
        if case .fault(let reason) = reader.access(of: record, line: 2, .mapped(columns)) { faults.compared = reason }
        if case .fault(let reason) = reader.entry(of: record, .mapped(columns)) { faults.imported = reason }
        return faults
    }

    @Test func `Texts that cannot be stored make their line unusable, not the run`() throws {
        let id = try Self.faults("a\0", "1", "pro", "never")
        #expect(id.compared == "customerId has a NUL character" && id.imported == id.compared)
        let product = try Self.faults("a", "1", "p\0", "never")
        #expect(product.compared == "the product has a NUL character" && product.imported == nil)
        let good = try Self.faults("a", "1", "pro", "never")
        #expect(good.compared == nil && good.imported == nil)
    }

    @Test(arguments: [0xFC, 0xF6] as [UInt8])
    func `An id that is not UTF-8 is not taken for another one`(letter: UInt8) throws {
        let faults = try Self.faults(String(decoding: [0x6D, letter, 0x6C], as: UTF8.self), "1", "pro", "never")
        #expect(faults.compared?.contains("not UTF-8") == true && faults.imported == faults.compared)
    }
}
