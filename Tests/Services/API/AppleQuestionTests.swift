import Foundation
import Testing

@testable import API
@testable import ServerAPI

/// What an answer of Apple's is called in an answer of the API.
struct AppleQuestionTests {
    @Test(
        arguments: [
            (404, 4_040_010, "unknown-transaction", "does not know it"),
            (400, 4_000_006, "unknown-transaction", "does not know it"),
            (404, 4_040_003, "apple-refused", "check that the bundle id is this app's"),
            (404, nil, "apple-refused", "check the address, and proxies on the way"),
            (400, 4_000_000, "apple-refused", "correct the request"),
            (403, nil, "apple-refused", "check the address, and proxies on the way"),
            (404, 4_040_006, "apple-unavailable", "send it again later"),
            (500, nil, "apple-unavailable", "send it again later"),
        ] as [(Int, Int?, String, String)])
    func `Only an id that Apple says it does not have is an unknown transaction`(
        status: Int, code: Int?, reason: String, words: String
    ) async {
        let body = code.map { #"{"errorCode":\#($0),"errorMessage":"Said by Apple."}"# } ?? "<html>"
        let rejection = APIRejection(
            endpoint: .transactionInfo, status: status, body: Array(body.utf8), retryAfter: nil)
        do throws(AppleQuestion.Failure) {
            try await AppleQuestion.ask { throw APIError.rejected(rejection) }
            Issue.record("it was answered")
        } catch {
            #expect(error.reason == reason && error.detail.contains(words), "\(error)")
            #expect(error.detail.contains("send it again later") == (reason == "apple-unavailable"))
        }
    }
}
