import Testing

@testable import ServerAPI

@Suite struct APIRejectionTests {
    private static func isNotFound(_ status: Int, _ code: Int?) -> Bool {
        let body = code.map { #"{"errorCode":\#($0),"errorMessage":"Said by Apple."}"# } ?? "<html>"
        return APIRejection(endpoint: .transactionInfo, status: status, body: Array(body.utf8), retryAfter: nil)
            .isNotFound
    }

    @Test func `APIRejection is about an unknown id only where Apple says so of the id`() {
        #expect(Self.isNotFound(404, 4_040_010) && Self.isNotFound(400, 4_000_006))
        // An app that the key does not fit would make every purchase of a file unknown, and a proxy, too.
        #expect(!Self.isNotFound(404, 4_040_003) && !Self.isNotFound(404, nil) && !Self.isNotFound(404, 4_040_002))
        #expect(!Self.isNotFound(400, 4_000_000))
    }
}
