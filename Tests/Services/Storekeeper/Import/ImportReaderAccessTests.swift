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

    @Test func `What an answer has in the receipt alone is access, too, and what was added since counts`() {
        let line = """
            {"customerId":"a","receipt":{"receipt":{"bundle_id":"com.example.app","request_date_ms":"7000000","in_app":[\
            {"original_transaction_id":"5","transaction_id":"5","product_id":"life"},\
            {"original_transaction_id":"1","transaction_id":"1","product_id":"pro","expires_date_ms":"1000000"}]},\
            "latest_receipt_info":[{"original_transaction_id":"1","transaction_id":"1","product_id":"pro",\
            "expires_date_ms":"1000000","cancellation_date_ms":"500000"}],\
            "pending_renewal_info":[{"original_transaction_id":"1","grace_period_expires_date_ms":"4000000"}]}}
            """
        let records = Self.records(Self.reader.access(ofLine: Array(line.utf8), line: 1))
        #expect(records.map(\.product) == ["life", "pro"])
        #expect(records.map(\.endsAt) == [nil, Self.at(4000)])
        #expect(records.map(\.refundedAt) == [nil, Self.at(500)])
        #expect(records.map(\.version) == [Self.at(7000), Self.at(7000)])
    }

    @Test func `An answer about a receipt of the time before iOS 7 says when access ends`() {
        let line = """
            {"customerId":"a","receipt":{"receipt":{"bid":"com.example.app","original_transaction_id":"1","transaction_id":"1",\
            "product_id":"pro","expires_date":"1000000"},"latest_receipt_info":{"original_transaction_id":"1",\
            "transaction_id":"2","product_id":"pro","expires_date":"2000000"}}}
            """
        let records = Self.records(Self.reader.access(ofLine: Array(line.utf8), line: 1))
        #expect(records.map(\.endsAt) == [Self.at(1000), Self.at(2000)])
    }

    @Test func `A tester's stored answer is of the sandbox, and a customer's is not compared in the sandbox`() {
        func line(_ environment: String) -> [UInt8] {
            let answer = """
                {"environment":"\(environment)","receipt":{"bundle_id":"com.example.app"},"latest_receipt_info":[\
                {"original_transaction_id":"1","transaction_id":"1","product_id":"pro","expires_date_ms":"3000000"}]}
                """
            return Array(#"{"customerId":"a","receipt":\#(answer)}"#.utf8)
        }
        let tester = Self.records(Self.reader.access(ofLine: line("Sandbox"), line: 1))
        #expect(tester.map(\.isSandbox) == [true] && tester.map(\.purchase) == [nil])
        #expect(Self.records(Self.reader.access(ofLine: line("Production"), line: 1)).map(\.isSandbox) == [false])
        var sandbox = Self.reader
        sandbox.environment = .sandbox
        #expect(Self.records(sandbox.access(ofLine: line("Sandbox"), line: 1)).map(\.purchase) == ["1"])
        #expect(sandbox.access(ofLine: line("Production"), line: 1) == .skipped(.otherEnvironment))
    }

    @Test func `Access of a row with a tester's receipt is of the sandbox, whatever form the receipt has`() throws {
        func line(_ receipt: String) -> [UInt8] {
            Array(
                """
                {"customerId":"a","originalTransactionId":"1","productId":"pro","expiresAt":"never","receipt":\(receipt)}
                """.utf8)
        }
        func answer(_ environment: String) -> [UInt8] {
            line(#"{"environment":"\#(environment)","receipt":{"bundle_id":"com.example.app","in_app":[]}}"#)
        }
        func receipt(_ type: String, of app: String = "com.example.app") -> [UInt8] {
            line("\"\(CustomerListTests.receipt(of: app, ["1"], type: type))\"")
        }
        var sandbox = Self.reader
        sandbox.environment = .sandbox
        for (tester, customer) in [
            (answer("Sandbox"), answer("Production")), (receipt("ProductionSandbox"), receipt("Production")),
        ] {
            let records = [tester, customer].flatMap { Self.records(Self.reader.access(ofLine: $0, line: 1)) }
            #expect(records.map(\.isSandbox) == [true, false] && records.map(\.purchase) == [nil, "1"], "\(records)")
            let own = Self.records(sandbox.access(ofLine: tester, line: 1))
            #expect(own.map(\.isSandbox) == [false] && own.map(\.purchase) == ["1"])
            #expect(sandbox.access(ofLine: customer, line: 1) == .skipped(.otherEnvironment))
        }
        #expect(
            Self.reader.access(ofLine: receipt("Production", of: "com.other"), line: 1)
                == .fault("the receipt is of another app: com.other"))
        // One that cannot be read says nothing of the row's access.
        let unusable = Self.records(Self.reader.access(ofLine: line("\"????\""), line: 1))
        #expect(unusable.map(\.isSandbox) == [false] && unusable.map(\.product) == ["pro"])
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

    @Test(arguments: [
        (#""productId":"pro","expiresAt":1796000000000"#, "expiresAt is not a text"),
        (#""productId":7,"entitlement":"pro","expiresAt":"never""#, "productId is not a text"),
        (#""originalTransactionId":1,"productId":"pro","expiresAt":"never""#, "originalTransactionId is not a text"),
        (#""expiresAt":"never""#, "neither productId nor entitlement says to what there is access"),
        (
            #""entitlement":[],"expiresAt":"2027-01-01""#,
            "neither productId nor entitlement says to what there is access"
        ),
    ])
    func `Access of which a line does not say enough is no line without access`(members: String, reason: String) {
        let line = "{\"customerId\":\"a\",\(members)}"
        #expect(Self.reader.access(ofLine: Array(line.utf8), line: 1) == .fault(reason))
    }

    @Test func `Access of an export is compared also where it names no purchase`() {
        func records(_ shape: ImportShape, _ fields: [String: String]) -> [IncumbentRecord] {
            let names = fields.keys.sorted()
            let record = ImportRecord(
                SeparatedValues.Record(line: 2, fields: names.map { fields[$0] ?? "" }), names)
            return Self.records(Self.reader.access(of: record, line: 2, shape))
        }
        let revenueCat = [
            "rc_original_app_user_id": "a", "store": "app_store", "is_sandbox": "false", "product_identifier": "pro",
            "refunded_at": "",
        ]
        let adapty = ["customer_user_id": "a", "store": "app_store", "environment": "Production", "product_id": "pro"]
        let end = "2027-01-01 00:00:00"
        for found in [
            records(.revenueCat, revenueCat.merging(["effective_end_time": end]) { $1 }),
            records(.adapty, adapty.merging(["subscription_expires_at": end]) { $1 }),
        ] {
            #expect(found.map(\.product) == ["pro"] && found.map(\.purchase) == [nil], "\(found)")
            #expect(found.first?.endsAt == FileDate.date(end))
        }
        #expect(records(.revenueCat, revenueCat).isEmpty && records(.adapty, adapty).isEmpty)
        let over = #"{"customerId":"a","expiresAt":"2026-01-01"}"#
        #expect(Self.reader.access(ofLine: Array(over.utf8), line: 1) == .skipped(.withoutAccess))
    }

    @Test(
        arguments: [
            ("subscription_started", 0, [0]), ("subscription_started", 1, nil), ("subscription_renewed", 0, [0]),
            ("subscription_renewed", 1, [nil]), ("subscription_renewal_cancelled", 1, nil),
        ] as [(String, Double, [Double?]?)])
    func `An event of Adapty's after the moment counts only where it renews, and then as the oldest`(
        type: String, seconds: Double, versions: [Double?]?
    ) {
        let fields = [
            "customer_user_id": "a", "store": "app_store", "environment": "Production", "product_id": "pro",
            "original_transaction_id": "1", "event_type": type, "subscription_expires_at": "2027-01-01 00:00:00",
            "event_datetime": Self.reader.now.addingTimeInterval(seconds).formatted(Date.ISO8601FormatStyle()),
        ]
        let names = fields.keys.sorted()
        let record = ImportRecord(SeparatedValues.Record(line: 2, fields: names.map { fields[$0] ?? "" }), names)
        let entry = Self.reader.access(of: record, line: 2, .adapty)
        guard let versions else { return #expect(entry == .skipped(.withoutAccess)) }
        #expect(Self.records(entry).map(\.version) == versions.map { $0.map(Self.reader.now.addingTimeInterval) })
    }

    @Test(arguments: ["effective_end_time", "refunded_at"])
    func `An export of chosen columns that does not say when access ends is no access without end`(missing: String) {
        var fields = [
            "rc_original_app_user_id": "a", "store": "promotional", "is_sandbox": "false", "store_transaction_id": "1",
            "entitlement_identifiers": "['pro']", "effective_end_time": "", "refunded_at": "",
        ]
        var reader = Self.reader
        reader.takesGrants = true
        func read() -> (compared: AccessEntry, imported: ImportList.Entry) {
            let names = fields.keys.sorted()
            let record = ImportRecord(
                SeparatedValues.Record(line: 2, fields: names.map { fields[$0] ?? "" }), names)
            return (
                reader.access(of: record, line: 2, .revenueCat), reader.entry(of: record, .revenueCat)
            )
        }
        #expect(Self.records(read().compared).map(\.entitlements) == [["pro"]])
        fields[missing] = nil
        let reason = "the file does not say when access ends; export it with \(missing)"
        let (compared, imported) = read()
        #expect(compared == .fault(reason))
        if case .fault(let found) = imported { #expect(found == reason) } else { Issue.record("\(imported)") }
    }

    @Test(arguments: [0xFC, 0xF6] as [UInt8])
    func `An id that is not UTF-8 is not taken for another one`(letter: UInt8) throws {
        let faults = try Self.faults(String(decoding: [0x6D, letter, 0x6C], as: UTF8.self), "1", "pro", "never")
        #expect(faults.compared?.contains("not UTF-8") == true && faults.imported == faults.compared)
    }
}
