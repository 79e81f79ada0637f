import AppStore
import StrictJSON
import Testing

@Suite struct VerifyReceiptAnswerTests {
    static func answer(_ text: String) throws -> VerifyReceiptAnswer {
        try VerifyReceiptAnswer(json: JSONDocument(Array(text.utf8)).root)
    }

    @Test func `VerifyReceiptAnswer reads the purchases of all three lists, each once`() throws {
        let answer = try Self.answer(
            """
            {"status": 0, "environment": "Sandbox",
             "receipt": {"bundle_id": "com.example.app", "in_app": [
                {"original_transaction_id": "1", "transaction_id": "9"}, {"transaction_id": "2"}]},
             "latest_receipt_info": [{"original_transaction_id": "1"}, {"original_transaction_id": "3"}],
             "pending_renewal_info": [{"original_transaction_id": "4"}, {"original_transaction_id": ""}]}
            """)
        #expect(answer.originalTransactionIds == ["1", "2", "3", "4"])
        #expect(answer.bundleId == "com.example.app")
        #expect(answer.environment == .sandbox)
    }

    /// Each id compared with each other one would be twenty thousand million comparisons.
    @Test(.timeLimit(.minutes(5)))
    func `VerifyReceiptAnswer reads a list of two hundred thousand ids in the time of one pass`() throws {
        let ids = (0..<200_000).map { "\(1_000_000 + $0)" }
        let answer = try Self.answer(
            #"{"receipt": {"in_app": [\#(ids.map { #"{"transaction_id": "\#($0)"}"# }.joined(separator: ","))]}}"#)
        #expect(answer.originalTransactionIds == ids)
    }

    @Test func `VerifyReceiptAnswer reads the one purchase of a receipt of the time before iOS 7`() throws {
        let answer = try Self.answer(
            """
            {"status": 0, "receipt": {"bid": "com.example.app", "original_transaction_id": "5"},
             "latest_receipt_info": {"original_transaction_id": "5", "transaction_id": "6"}}
            """)
        #expect(answer.originalTransactionIds == ["5"])
        #expect(answer.bundleId == "com.example.app")
        #expect(answer.environment == nil)
    }

    @Test(arguments: [
        "{}", "[]", #"{"receipt": 7, "latest_receipt_info": "x"}"#,
        #"{"latest_receipt_info": [{"original_transaction_id": "../1"}]}"#,
        #"{"pending_renewal_info": [{"original_transaction_id": 7}]}"#,
    ])
    func `An answer without ids that can be asked of Apple is rejected`(text: String) {
        #expect(throws: ReceiptFault.self) { try Self.answer(text) }
    }
}
