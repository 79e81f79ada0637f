import Foundation
import Testing

@testable import Storekeeper

struct ImportListTests {
    private static let token = "7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7b"

    @Test func `Rows are customers with what is known of them`() throws {
        let list = ImportList(
            """
            {"customerId":"a"}

            {"customerId":"b","appAccountToken":"\(Self.token.uppercased())","originalTransactionId":"2000000000000001"}
            """, of: "com.example.app")
        #expect(list.faults.isEmpty)
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
        (#"{"customerId":"a","appAccountToken":"b"}"#, "is not a UUID"),
        (#"{"customerId":"a","originalTransactionId":"x"}"#, "not a text of digits"),
        (#"{"customerId":"a","originalTransactionId":1}"#, "not a text of digits"),
        (#"{"customerId":"a","receipt":"????"}"#, "unusable receipt"),
    ])
    func `Line that cannot be used is reported with its number and reason, and holds up no other`(
        line: String, reason: String
    ) {
        let list = ImportList("\(line)\n{\"customerId\":\"good\"}\n", of: "com.example.app")
        #expect(list.rows.map(\.customerId) == ["good"])
        #expect(list.faults.map(\.line) == [1])
        #expect(list.faults.first?.reason.contains(reason) == true, "\(list.faults)")
    }
}
