import AppStore
import Contracts
import Foundation
import Testing

@testable import Verifier

/// Notifications of version 1 in the verifier's stage (A8, L19).
@Suite struct Version1Tests {
    @Test func `Verifier passes on version 1 under its own type, for no purchase`() async throws {
        let body = Array(#"{"notification_type":"CANCEL","bid":"com.example.app","environment":"PROD"}"#.utf8)
        guard case .forward(let verified) = try await VerifyTests.results(on: [body])[0] else {
            Issue.record("it was rejected")
            return
        }
        let read = try VerifiedNotification(verified.record())
        #expect(read.notificationType == "V1" && read.subtype == "CANCEL")
        #expect(read.environment == .production && read.bundleId == "com.example.app")
        #expect(read.originalTransactionId == nil && read.transactionId == nil && read.signedDate == nil)
        #expect(try read.signedPayload == [])
        #expect(read.decoded == body)
    }

    @Test func `Verifier counts no version 1 towards the rejection limit`() async throws {
        let bodies = [
            #"{"notification_type":"CANCEL","bid":"com.example.other","environment":"PROD"}"#,
            #"{"notification_type":"CANCEL","bid":"com.example.app","environment":"Sandbox"}"#,
            #"{"notification_type":"CANCEL"}"#, "{",
        ]
        for result in try await VerifyTests.results(on: bodies.map { Array($0.utf8) }) {
            guard case .deadLetter(let reason, _) = result else {
                Issue.record("\(result) is no rejection")
                continue
            }
            #expect(!reason.countsTowardsRejectionLimit)
        }
    }
}
