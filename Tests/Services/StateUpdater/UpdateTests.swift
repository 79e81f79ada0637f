import Contracts
import Foundation
import Records
import Testing

@testable import StateUpdater

struct UpdateTests {
    @Test(arguments: [
        ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", true), ("\0", false), ("00-1-2-3", false),
    ])
    func `Update drops an invalid trace context`(traceparent: String, isOne: Bool) throws {
        let notification = VerifiedNotification(
            notificationUUID: UUID(), notificationType: "TEST", subtype: nil, environment: .sandbox,
            bundleId: "com.example.app", appAppleId: nil, originalTransactionId: nil, transactionId: nil,
            signedDate: nil, receivedAt: Date(milliseconds: 1_760_000_000_000), source: .webhook,
            traceparent: traceparent, decoded: Array("{}".utf8), signedPayload: Array("a.b.c".utf8))
        let result = Update().result(on: notification, at: LogPosition(topic: "t", partition: 0, offset: 0))
        guard case .forward(let entry) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(entry.traceparent == (isOne ? traceparent : nil))
    }
}
