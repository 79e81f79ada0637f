import Foundation
import Records
import SimulatedAppStore
import Testing

@Suite struct GenuineNotificationsTests {
    @Test func `GenuineNotifications are accepted, and have three signatures where they are of subscriptions`() throws {
        let now = Date(milliseconds: 1_790_000_000_000)
        var notifications = try GenuineNotifications(purchases: 20, now: now)
        let verifier = try notifications.verifier()
        for _ in 0..<50 {
            _ = try verifier.notification(try notifications.next(), now: now).get()
            let jws = try notifications.nextOfSubscription()
            _ = try verifier.notification(jws, now: now).get()
            let data = try #require(try NotificationSignerTests.claims(of: jws)["data"])
            #expect(data["signedTransactionInfo"]?.string != nil && data["signedRenewalInfo"]?.string != nil)
        }
    }
}
