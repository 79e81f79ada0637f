import Contracts
import Foundation
import TestSupport
import Testing

@testable import Storekeeper

struct ImportListTests {
    private static let token = "7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7b"
    private static let now = Date(timeIntervalSince1970: 1_795_000_000)

    private func list(
        _ text: String, _ columns: ImportColumns? = nil, in environment: StoreEnvironment = .production,
        grants: Bool = false
    ) throws -> ImportList {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try Data(text.utf8).write(to: directory.url("file"))
        return try ImportList(
            FilePieces(path: directory.path("file")), columns: columns,
            reader: ImportReader(
                bundleId: "com.example.app", environment: environment, takesGrants: grants, now: Self.now))
    }

    @Test func `Rows are customers with what is known of them`() throws {
        let list = try list(
            """
            {"customerId":"a"}

            {"customerId":"b","appAccountToken":"\(Self.token.uppercased())","originalTransactionId":"2000000000000001"}
            """)
        #expect(list.faults.isEmpty && list.shape == .jsonLines && list.records == 2)
        #expect(
            list.rows == [
                ImportList.Row(line: 1, customerId: "a"),
                ImportList.Row(
                    line: 3, customerId: "b", appAccountToken: UUID(uuidString: Self.token),
                    originalTransactionIds: ["2000000000000001"]),
            ])
    }

    @Test(arguments: [
        ("user-1", "not a JSON object"), ("[]", "not a JSON object"), ("{}", "customerId is missing"),
        (#"{"customerId":""}"#, "customerId is missing"), (#"{"customerId":7}"#, "customerId is missing"),
        (#"{"customerId":"a","token":"b"}"#, "unknown member token; known are appAccountToken"),
        (#"{"customerId":"m\uFFFDl"}"#, "is not UTF-8"),
        (#"{"customerId":"a","appAccountToken":"b"}"#, "is not a UUID"),
        (#"{"customerId":"a","originalTransactionId":"x"}"#, "not a text of digits"),
        (#"{"customerId":"a","originalTransactionId":1}"#, "not a text of digits"),
        (#"{"customerId":"a","receipt":"????"}"#, "unusable receipt"),
        (#"{"customerId":"a","receipt":{"status":0}}"#, "has no purchases"),
        (#"{"customerId":"a","receipt":{"receipt":{"bundle_id":"com.other"}}}"#, "of another app: com.other"),
        (#"{"customerId":"a","receipt":{"environment":"Sandbox"}}"#, "is of Sandbox"),
    ])
    func `Line that cannot be used is reported with its number and reason, and holds up no other`(
        line: String, reason: String
    ) throws {
        let list = try list("{\"customerId\":\"good\"}\n\(line)\n{\"customerId\":\"good\"}\n")
        #expect(list.rows.map(\.customerId) == ["good", "good"])
        #expect(list.faults.map(\.line) == [2])
        #expect(list.faults.first?.reason.contains(reason) == true, "\(list.faults)")
    }

    @Test func `A stored answer of verifyReceipt names each purchase once`() throws {
        let answer = """
            {"status":0,"environment":"Production","receipt":{"bundle_id":"com.example.app","in_app":[{"original_transaction_id":\
            "100"},{"original_transaction_id":"100"}]},"latest_receipt_info":[{"original_transaction_id":"100"},\
            {"original_transaction_id":"200"}]}
            """
        let column = "\"" + answer.replacing("\"", with: "\"\"") + "\""
        let lines = try list(#"{"customerId":"a","receipt":\#(answer)}"#)
        let values = try list("id,stored\na,\(column)\n", ImportColumns(argument: "customerId=id,receipt=stored"))
        for list in [lines, values] {
            #expect(list.rows.map(\.originalTransactionIds) == [["100", "200"]], "\(list.faults)")
        }
    }

    private static let revenueCat = [
        "rc_original_app_user_id", "rc_last_seen_app_user_id_alias", "store", "is_sandbox", "store_transaction_id",
        "original_store_transaction_id", "effective_end_time", "refunded_at", "entitlement_identifiers", "email",
    ].joined(separator: ";")

    @Test func `RevenueCat's export is read by customer, and what is not the app's in the environment is counted`()
        throws
    {
        let file = """
            \(Self.revenueCat)
            user-1;user-1;app_store;false;1001;1000;2026-12-01 00:00:00;;["pro"];one@example.com
            user-1;user-1;app_store;false;1002;1000;2027-01-01 00:00:00;;["pro"];one@example.com
            $RCAnonymousID:a;user-2;app_store;false;2000;2000;;;["pro"];
            user-3;user-3-new;app_store;false;3000;;;;;
            $RCAnonymousID:b;$RCAnonymousID:b;mac_app_store;false;4000;4000;;;;
            user-5;user-5;play_store;false;GPA.1;GPA.1;;;;
            user-6;user-6;app_store;true;6000;6000;;;;
            user-7;user-7;app_store;false;;;;;;
            user-8;user-8;app_store;false;x;x;;;;
            user-9;user-9
            user-1;user-1;promotional;false;;;2226-01-01 00:00:00;;["pro", "extra"];
            user-1;user-1;promotional;false;;;2025-01-01 00:00:00;;["pro"];
            user-2;user-2;promotional;false;;;2026-12-31 12:00:00;;["pro"];
            user-2;user-2;promotional;false;;;2026-12-31 12:00:00;2026-11-01 00:00:00;["pro"];

            """
        let list = try list(file)
        #expect(list.shape == .revenueCat && list.records == 14)
        #expect(
            list.rows == [
                .init(line: 2, customerId: "user-1", originalTransactionIds: ["1000"]),
                .init(line: 4, customerId: "user-2", originalTransactionIds: ["2000"], aliases: ["$RCAnonymousID:a"]),
                .init(line: 5, customerId: "user-3-new", originalTransactionIds: ["3000"], aliases: ["user-3"]),
                .init(line: 6, customerId: "$RCAnonymousID:b", originalTransactionIds: ["4000"]),
            ])
        #expect(list.skipped == [.otherStore: 1, .otherEnvironment: 1, .withoutPurchase: 1, .grant: 4])
        #expect(list.faults.map(\.line) == [10, 11])
        let end = try Date("2026-12-31T12:00:00Z", strategy: .iso8601)
        let granted = try self.list(file, grants: true)
        #expect(
            granted.rows.map(\.grants) == [
                [.init(entitlement: "pro"), .init(entitlement: "extra")], [.init(entitlement: "pro", endsAt: end)], [],
                [],
            ])
        #expect(granted.skipped[.grant] == 2)
        #expect(try self.list(file, in: .sandbox).rows.map(\.customerId) == ["user-6"])
        let contents = ImportContents(list)
        #expect(
            contents.customers == 4 && contents.purchases == 4 && contents.anonymousIds == 1 && contents.invalid == 2)
        #expect(!"\(list)".contains("example.com"), "a column that is not named is not read")
    }

    @Test func `Customers whose ids differ in their Unicode form alone keep their purchases apart`() throws {
        let file = """
            \(Self.revenueCat)
            Ren\u{E9};Ren\u{E9};app_store;false;1000;1000;;;;
            Rene\u{301};Rene\u{301};app_store;false;2000;2000;;;;

            """
        let list = try list(file)
        #expect(list.rows.map(\.originalTransactionIds) == [["1000"], ["2000"]])
        #expect(ImportContents(list).customers == 2)
    }

    @Test func `Adapty's events are read by customer, with its own id where there is no other`() throws {
        let list = try list(
            """
            profile_id,event_type,original_transaction_id,subscription_expires_at,environment,customer_user_id,store,product_id
            p1,subscription_started,1000,2026-12-01T00:00:00Z,Production,user-1,app_store,pro
            p1,subscription_renewed,1000,2027-01-01T00:00:00Z,Production,user-1,app_store,pro
            p2,subscription_started,2000,,Production,,app_store,pro
            p3,subscription_started,3000,,Sandbox,user-3,app_store,pro
            p4,subscription_started,4000,,Production,user-4,play_store,pro
            p5,access_level_updated,,,Production,user-5,app_store,pro
            """)
        #expect(list.shape == .adapty)
        #expect(
            list.rows.map(\.customerId) == ["user-1", "p2"]
                && list.rows.map(\.originalTransactionIds) == [["1000"], ["2000"]])
        #expect(list.skipped == [.otherEnvironment: 1, .otherStore: 1, .withoutPurchase: 1])
    }

    @Test func `A compressed file is read, and a damaged one is refused as a whole`() throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let file = directory.path("it's a file.csv.gz")
        let bytes = try #require(Data(base64Encoded: "H4sIAAAAAAACA8tMsS4oLUrOSCxO5SotTi3SNbQ2NDAw4AIAPZtXIxgAAAA="))
        func list() throws -> ImportList {
            try ImportList(
                FilePieces(path: file),
                columns: ImportColumns(argument: "customerId=id,originalTransactionId=purchase"),
                reader: ImportReader(bundleId: "com.example.app", environment: .production, now: Self.now))
        }
        try bytes.write(to: URL(fileURLWithPath: file))
        #expect(try list().rows == [.init(line: 2, customerId: "user-1", originalTransactionIds: ["1000"])])
        try bytes.dropLast(9).write(to: URL(fileURLWithPath: file))
        let fault = #expect(throws: (any Error).self) { try list() }
        #expect("\(fault as Any)".contains("cannot be decompressed"))
    }

    @Test func `A byte order mark is no part of the file, and a customer has one token`() throws {
        #expect(try list("\u{FEFF}{\"customerId\":\"a\"}\n").rows.map(\.customerId) == ["a"])
        let columns = ImportColumns(argument: "customerId=id,appAccountToken=token")
        let list = try list("\u{FEFF}id,token\na,\(Self.token)\na,\(UUID())\na,\(Self.token)\n", columns)
        #expect(list.rows.map(\.appAccountToken) == [UUID(uuidString: Self.token)])
        #expect(list.faults.map(\.line) == [3] && list.faults[0].reason.contains("line 2"))
    }

    @Test func `Columns are named where the header tells nothing`() throws {
        let file = "user\tpurchase\ttoken\n7\t1000\t\(Self.token)\n7\t2000\t\na@b.example\t1000\t\n\t1\t\n"
        let columns = try #require(
            ImportColumns(argument: "customerId=user,originalTransactionId=purchase,appAccountToken=token"))
        let list = try list(file, columns)
        #expect(
            list.rows == [
                .init(
                    line: 2, customerId: "7", appAccountToken: UUID(uuidString: Self.token),
                    originalTransactionIds: ["1000", "2000"]),
                .init(line: 4, customerId: "a@b.example", originalTransactionIds: ["1000"]),
            ])
        #expect(list.faults.map(\.line) == [5])
        let contents = ImportContents(list)
        #expect(contents.purchasesOfSeveralCustomers == 1 && contents.guessableIds == 2)
        #expect(contents.lines.contains { $0.contains("the first in the file claims it") })
        for (text, columns) in [
            (file, nil), (file, ImportColumns(argument: "customerId=user,receipt=missing")), ("", nil),
        ] {
            let fault = #expect(throws: (any Error).self) { try self.list(text, columns) }
            #expect(
                "\(fault as Any)".contains(text.isEmpty ? "is empty" : "it has user, purchase, token"),
                "\(fault as Any)")
        }
        for wrong in ["customerId=a", "customerId", "customerId=a,other=b", "customerId=a,customerId=b", "receipt=a"] {
            #expect(ImportColumns(argument: wrong) == nil, "\(wrong)")
        }
    }

    @Test func `The sample is spread over all purchases`() {
        #expect(ImportSample.selection(of: Array(0..<100), 4) == [0, 25, 50, 75])
        #expect(ImportSample.selection(of: [1, 2], 4) == [1, 2] && ImportSample.selection(of: [1, 2], 0).isEmpty)
    }
}
