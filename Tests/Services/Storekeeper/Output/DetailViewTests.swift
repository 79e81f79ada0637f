import Testing

@testable import Storekeeper

struct DetailViewTests {
    private struct Row: Encodable {
        var first = ["zebra": 1]
        var transactionId: String?
    }

    @Test(arguments: ["t", nil]) func `Payload stands where the alphabet has it`(transactionId: String?) throws {
        let json = DetailView<Row>.json(
            try OutputOptions.json(Row(transactionId: transactionId)), adding: "{\n  \"b\": 1.10,\n  \"a\": 2\n}")
        let end = transactionId == nil ? "\n}" : ",\n  \"transactionId\" : \"t\"\n}"
        let expected = """
            {
              "first" : {
                "zebra" : 1
              },
              "payload" : {
              "b": 1.10,
              "a": 2
            }
            """
        #expect(json == expected + end)
    }
}
