import AppStore
import Contracts
import Foundation
import Pipeline
import Records
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

    @Test func `Verifier passes on so many notifications of version 1 of an app in an hour, and drops the rest`()
        async throws
    {
        let verifier = try VerifyTests.verifier()
        let stage = Verify(
            verifier: { verifier }, now: { VerifyTests.now },
            version1: HourlyQuota(perHour: 2, now: { VerifyTests.now.addingTimeInterval(7200) }), cores: 2)
        func outcomes(_ source: NotificationSource, hour: Double) async throws -> [String] {
            let deliveries = (0..<4).map { number in
                let body =
                    #"{"notification_type":"CANCEL","bid":"com.example.app","environment":"PROD","n":\#(number)}"#
                return Delivery(
                    message: ReceivedNotification(
                        signedPayload: Array(body.utf8), source: source,
                        receivedAt: VerifyTests.now.addingTimeInterval(3600 * hour)),
                    position: LogPosition(topic: Topics.received.name, partition: 0, offset: Int64(number)))
            }
            return try await stage.process(deliveries).map(\.outcome)
        }
        let limited = ["forwarded", "forwarded", "version1-beyond-quota", "version1-beyond-quota"]
        #expect(try await outcomes(.webhook, hour: 0) == limited)
        #expect(try await outcomes(.replay, hour: 0) == [String](repeating: "forwarded", count: 4))
        #expect(try await outcomes(.webhook, hour: 1) == limited)
        #expect(VerifyReason(rawValue: "version1-beyond-quota") == .version1BeyondQuota)
        #expect(!VerifyReason.version1BeyondQuota.isDeferred)
        #expect(!VerifyReason.version1BeyondQuota.countsTowardsRejectionLimit)
    }
}
