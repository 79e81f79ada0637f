import AppStore
import Foundation
import Testing

@testable import AppStoreSamples

/// Notifications of version 1 (A8, L19).
@Suite struct Version1NotificationTests {
    private static func result(_ json: String) throws -> Result<Version1Notification, VerificationFailure> {
        let material = try ForgeryMaterial(now: Date(timeIntervalSince1970: 1_780_000_000))
        return try material.verifier().version1(Array(json.utf8))
    }

    private static func body(_ bundleId: String, _ environment: String) -> String {
        """
        {"notification_type":"INTERACTIVE_RENEWAL","bid":"\(bundleId)","environment":"\(environment)",\
        "password":"secret","auto_renew_status":"true","latest_receipt":"\(String(repeating: "A", count: 9000))",\
        "unified_receipt":{"latest_receipt_info":[{"transaction_id":"1"}]}}
        """
    }

    @Test(arguments: [("PROD", AppStoreEnvironment.production), ("Sandbox", .sandbox)])
    func `Version1Notification keeps short members, and neither receipts nor the secret`(
        told: String, environment: AppStoreEnvironment
    ) throws {
        let notification = try Self.result(Self.body(ForgeryMaterial.bundleId, told)).get()
        #expect(notification.notificationType == "INTERACTIVE_RENEWAL")
        #expect(notification.environment == environment)
        #expect(
            String(decoding: notification.json, as: UTF8.self) == """
                {"notification_type":"INTERACTIVE_RENEWAL","bid":"\(ForgeryMaterial.bundleId)",\
                "environment":"\(told)","auto_renew_status":"true"}
                """)
        #expect(try Self.result(Self.body(ForgeryMaterial.bundleId, told)).get().identifier == notification.identifier)
    }

    @Test func `Version1Notification of another app or environment is rejected, and proves nothing about any`() throws {
        let cases: [(String, VerificationFailureReason)] = [
            (Self.body("com.example.other", "PROD"), .appUnknown),
            (Self.body(ForgeryMaterial.bundleId, ""), .environment),
            (#"{"notification_type":"CANCEL"}"#, .malformed), ("{", .malformed),
        ]
        for (json, reason) in cases {
            guard case .failure(let rejection) = try Self.result(json) else {
                Issue.record("\(json.prefix(60)) was accepted")
                continue
            }
            #expect(rejection.reason == reason)
            #expect(rejection.bundleId == nil && !rejection.concernsOwnApp)
        }
    }
}
