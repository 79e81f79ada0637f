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

    @Test func `A stored answer that has a purchase among its renewals alone names it`() throws {
        let answer = """
            {"receipt":{"bundle_id":"com.example.app","in_app":[]},"latest_receipt_info":[],\
            "pending_renewal_info":[{"original_transaction_id":"300","is_in_billing_retry_period":"1"}]}
            """
        let list = try list(#"{"customerId":"a","receipt":\#(answer)}"#)
        #expect(list.rows.map(\.originalTransactionIds) == [["300"]], "\(list.faults)")
    }

    @Test func `A receipt or stored answer of another environment is left out, as such records of exports are`() throws
    {
        func answer(_ environment: String, _ id: Int) -> String {
            """
            {"environment":"\(environment)","receipt":{"bundle_id":"com.example.app","in_app":[{"original_transaction_id":\(id)}]}}
            """
        }
        func receipt(_ type: String, _ id: String) -> String {
            CustomerListTests.receipt(of: "com.example.app", [id], type: type)
        }
        let text = """
            {"customerId":"buyer","receipt":\(answer("Production", 100))}
            {"customerId":"tester","receipt":\(answer("Sandbox", 200))}
            {"customerId":"buyer","receipt":"\(receipt("ProductionVPP", "101"))"}
            {"customerId":"tester","receipt":"\(receipt("ProductionSandbox", "201"))"}
            """
        for (environment, customer, ids) in [
            (StoreEnvironment.production, "buyer", ["100", "101"]), (.sandbox, "tester", ["200", "201"]),
        ] {
            let list = try list(text, in: environment)
            #expect(list.rows.map(\.customerId) == [customer, customer] && list.faults.isEmpty, "\(list.faults)")
            #expect(list.rows.flatMap(\.originalTransactionIds) == ids)
            #expect(list.skipped == [.otherEnvironment: 2])
        }
        // A customer who once tested has bought since: the row names it.
        let both = try list(
            """
            {"customerId":"bought","originalTransactionId":"300","receipt":"\(receipt("ProductionSandbox", "201"))"}
            {"customerId":"known","appAccountToken":"\(Self.token)","receipt":\(answer("Sandbox", 200))}
            """)
        #expect(both.rows.map(\.originalTransactionIds) == [["300"], []] && both.skipped.isEmpty, "\(both)")
        #expect(both.rows.last?.appAccountToken == UUID(uuidString: Self.token))
    }

    @Test func `What a database writes for nothing is nothing, and no customer of that name`() throws {
        let line = #"{"customerId":"a","appAccountToken":null,"originalTransactionId":null,"receipt":null}"#
        #expect(try list(line).rows == [.init(line: 1, customerId: "a")])
        let columns = ImportColumns(argument: "customerId=user,originalTransactionId=purchase")
        let values = try list("user\tpurchase\n\\N\t1000\n7\t\\N\n", columns)
        #expect(values.rows == [.init(line: 3, customerId: "7")])
        #expect(values.faults.map(\.line) == [2])
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
        let contents = ImportContents(list, share: 1)
        #expect(
            contents.customers == 4 && contents.purchases == 4 && contents.anonymousIds == 1 && contents.invalid == 2)
        #expect(!"\(list)".contains("example.com"), "a column that is not named is not read")
    }

    /// With all columns of version 5, written as RevenueCat's example file is: commas, capital booleans, lists that are no
    /// JSON, and attributes with quotation marks and commas.
    @Test func `A record as RevenueCat's documentation shows it is read, by import and by compare`() throws {
        let header = """
            rc_original_app_user_id,rc_last_seen_app_user_id_alias,country,country_source,product_identifier,\
            product_display_name,product_duration,start_time,end_time,grace_period_end_time,effective_end_time,store,\
            is_auto_renewable,is_trial_period,is_in_intro_offer_period,is_sandbox,price_in_usd,purchase_price_in_usd,\
            takehome_percentage,tax_percentage,commission_percentage,store_transaction_id,original_store_transaction_id,\
            refunded_at,unsubscribe_detected_at,billing_issues_detected_at,purchased_currency,\
            price_in_purchased_currency,purchase_price_in_purchased_currency,entitlement_identifiers,renewal_number,\
            is_trial_conversion,presented_offering,ownership_type,reserved_subscriber_attributes,\
            custom_subscriber_attributes,platform,experiment_id,experiment_variant,updated_at,offer,offer_type,\
            first_seen_time,auto_resume_time
            """
        func record(_ customer: String, sandbox: String, _ id: String, _ entitlements: String) -> String {
            """
            $RCAnonymousID:\(id),\(customer),GB,from_sdk,gold.monthly,"Gold, monthly",P1M,2026-11-01 10:00:00,\
            2026-12-01 10:00:00,2026-12-07 10:00:00,2026-12-07 10:00:00,app_store,True,False,False,\(sandbox),4.99,4.99,\
            0.85,0.1667,0.15,\(id)1,\(id),,,2026-12-01 10:00:00,GBP,3.99,3.99,\(entitlements),2,False,default,\
            FAMILY_SHARED,"{""$ip"": {""value"": ""192.0.2.1"", ""updated_at_ms"": 1}}",\
            "{""note"": {""value"": ""one, two"", ""updated_at_ms"": 2}}",ios,,,2026-12-01 10:00:05,,,2026-10-01 09:00:00,
            """
        }
        let rows = [
            record("user-1", sandbox: "False", "2000", #""['membership', 'full_access']""#),
            record("user-2", sandbox: "True", "3000", "['membership']"),
            record("user-3", sandbox: "False", "4000", "['membership']"),
            record("user-4", sandbox: "False", "5000", ""),
        ]
        let list = try list(([header] + rows).joined(separator: "\n") + "\n")
        #expect(list.faults.isEmpty && list.records == 4 && list.skipped == [.otherEnvironment: 1])
        #expect(list.rows.map(\.customerId) == ["user-1", "user-3", "user-4"])
        #expect(list.rows.map(\.originalTransactionIds) == [["2000"], ["4000"], ["5000"]])
        #expect(list.rows.map(\.aliases).first == ["$RCAnonymousID:2000"])
        var values = SeparatedValues()
        let fields = try values.append(Array((header + "\n" + rows[0] + "\n").utf8))
        let reader = ImportReader(bundleId: "com.example.app", environment: .production, now: Self.now)
        let entry = reader.access(of: ImportRecord(fields[1], fields[0].fields), line: 2, .revenueCat)
        guard case .records("user-1", _, let records) = entry else { throw EntryFault(entry: entry) }
        #expect(records.map(\.entitlements) == [["membership", "full_access"]])
        #expect(records.map(\.endsAt) == [FileDate.date("2026-12-07 10:00:00")])
        #expect(records.map(\.graceEndsAt) == records.map(\.endsAt) && records.map(\.isShared) == [true])
    }

    private struct EntryFault: Error { var entry: AccessEntry }

    @Test func `Customers whose ids differ in their Unicode form alone keep their purchases apart`() throws {
        let file = """
            \(Self.revenueCat)
            Ren\u{E9};Ren\u{E9};app_store;false;1000;1000;;;;
            Rene\u{301};Rene\u{301};app_store;false;2000;2000;;;;

            """
        let list = try list(file)
        #expect(list.rows.map(\.originalTransactionIds) == [["1000"], ["2000"]])
        #expect(ImportContents(list, share: 1).customers == 2)
    }

    @Test func `Adapty's events are read by customer, with its own id where no event names another`() throws {
        let list = try list(
            """
            profile_id,event_type,original_transaction_id,subscription_expires_at,environment,customer_user_id,store,product_id
            p1,subscription_started,1000,2026-12-01T00:00:00Z,Production,user-1,app_store,pro
            p1,subscription_renewed,1000,2027-01-01T00:00:00Z,Production,user-1,app_store,pro
            p2,subscription_started,2000,,Production,,app_store,pro
            p3,subscription_started,3000,,Sandbox,user-3,app_store,pro
            p4,subscription_started,4000,,Production,user-4,play_store,pro
            p5,access_level_updated,,,Production,user-5,app_store,pro
            p6,subscription_started,6000,,Production,,app_store,pro
            p1,subscription_started,1000,,Production,,app_store,pro
            p6,subscription_renewed,6000,,Production,user-6,app_store,pro
            profile_id,event_type,original_transaction_id,subscription_expires_at,environment,customer_user_id,store,product_id
            """)
        #expect(list.shape == .adapty)
        #expect(
            list.rows.map(\.customerId) == ["user-1", "p2", "user-6"]
                && list.rows.map(\.originalTransactionIds) == [["1000"], ["2000"], ["6000"]])
        #expect(list.rows.map(\.line) == [2, 4, 8] && list.rows.map(\.aliases) == [["p1"], [], ["p6"]])
        #expect(list.skipped == [.otherEnvironment: 1, .otherStore: 1, .withoutPurchase: 1])
        #expect(ImportContents(list, share: 1).anonymousIds == 1)
    }

    @Test func `Files that were put together may have further columns from one day on`() throws {
        let list = try list(
            """
            profile_id,original_transaction_id,environment,customer_user_id,store
            p1,1000,Production,user-1,app_store
            profile_id,transaction_id,original_transaction_id,environment,customer_user_id,store
            p2,2001,2000,Production,user-2,app_store
            """)
        #expect(list.faults.isEmpty && list.records == 2, "\(list.faults)")
        #expect(list.rows.map(\.customerId) == ["user-1", "user-2"])
        #expect(list.rows.map(\.originalTransactionIds) == [["1000"], ["2000"]])
        let columns = ImportColumns(argument: "customerId=id,originalTransactionId=purchase")
        let own = try self.list("id,purchase\n1,1000\nid,mail,purchase\n2,a@b.example,2000\nid,3000\n", columns)
        #expect(own.rows.map(\.originalTransactionIds) == [["1000"], ["2000"]] && own.faults.map(\.line) == [5])
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

    @Test(arguments: ["id", "\"id\""])
    func `A byte order mark within files that were put together is no part of a header or line`(name: String) throws {
        let columns = ImportColumns(argument: "customerId=id,originalTransactionId=purchase")
        let file = "\u{FEFF}\(name),purchase\r\n7,1000\r\n\u{FEFF}\(name),mail,purchase\r\n8,a@b.example,2000\r\n"
        let values = try list(file, columns)
        #expect(values.rows.map(\.customerId) == ["7", "8"] && values.faults.isEmpty, "\(values)")
        #expect(values.rows.map(\.originalTransactionIds) == [["1000"], ["2000"]])
        let lines = try list("\u{FEFF}{\"customerId\":\"7\"}\n\u{FEFF}{\"customerId\":\"8\"}\n")
        #expect(lines.rows.map(\.customerId) == ["7", "8"] && lines.faults.isEmpty, "\(lines)")
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
        let contents = ImportContents(list, share: 1)
        #expect(contents.purchasesOfSeveralCustomers == 1 && contents.guessableIds == 2)
        #expect(contents.lines.contains { $0.contains("the first in the file claims it") })
        #expect(!contents.lines.contains { $0.contains("This command takes") })
        let part = ImportContents(list, share: 0.01)
        #expect(part.secondsAtAppleLimit == 1 && part.secondsAtShare == 4, "2 purchases, one in two seconds")
        #expect(part.lines[1].contains("takes 0.01 of the limit"), "\(part.lines)")
        for (text, columns) in [
            (file, nil), (file, ImportColumns(argument: "customerId=user,receipt=missing")), ("", nil),
        ] {
            let fault = #expect(throws: (any Error).self) { try self.list(text, columns) }
            #expect(
                "\(fault as Any)".contains(text.isEmpty ? "is empty" : "it has user, purchase, token"),
                "\(fault as Any)")
        }
        let doubled = #expect(throws: (any Error).self) {
            try self.list("user,purchase,token,user\na,1,,b\n", columns)
        }
        #expect("\(doubled as Any)".contains("several columns user"), "\(doubled as Any)")
        for wrong in ["customerId=a", "customerId", "customerId=a,other=b", "customerId=a,customerId=b", "receipt=a"] {
            #expect(ImportColumns(argument: wrong) == nil, "\(wrong)")
        }
    }

    @Test func `The sample is spread over all purchases`() {
        #expect(ImportSample.selection(of: Array(0..<100), 4) == [0, 25, 50, 75])
        #expect(ImportSample.selection(of: [1, 2], 4) == [1, 2] && ImportSample.selection(of: [1, 2], 0).isEmpty)
    }
}
