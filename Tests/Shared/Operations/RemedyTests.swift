import Operations
import ServerAPI
import Testing

@Suite struct RemedyTests {
    @Test func `Every result of an attempt but success has a remedy of its own`() {
        let remedies = SendAttemptResult.known.subtracting([.success, .sslIssue]).map(\.remedy)
        #expect(remedies.allSatisfy { $0 != nil } && Set(remedies).count == remedies.count)
        #expect(SendAttemptResult.success.remedy == nil)
        #expect(SendAttemptResult.sslIssue.remedy == SendAttemptResult.tlsIssue.remedy)
        #expect(SendAttemptResult(rawValue: "NEW").remedy != nil)
    }
}
