import AppStore
import Foundation
import Storage
import Subscriptions
import TestSupport
import Testing

/// Dates of the year 1 and the year 9999 in every field of a signed payload that holds a date.
@Suite(.serialized) struct ImplausibleDateTests {
    static let extremes = [-62_135_596_800, 253_402_300_799].map { Date(timeIntervalSince1970: $0) }

    @Test(arguments: [-62_135_596_800, 253_402_300_799] as [Double])
    func `A date of the year 1 or 9999 is stored`(seconds: Double) async throws {
        let date = Date(timeIntervalSince1970: seconds)
        try await NotificationBuilder.expect([.implausibleDate]) {
            $0.transaction.originalPurchaseDate = date
        } _: {
            $0.transaction?.originalPurchaseDate == date
        }
    }

    @Test func `A period that ends in the year 9999 gives access until then`() async throws {
        let end = Date(timeIntervalSince1970: 253_402_300_799)
        try await NotificationBuilder.expect([.implausibleDate]) {
            $0.transaction.expiresDate = end
        } _: {
            $0.state(at: end.addingTimeInterval(-1)) == .active && $0.state(at: end) != .active
        }
    }

    @Test func `A purchase in the year 1 counts, and one in the year 9999 gives no access and is replaced by the next`()
        async throws
    {
        try await NotificationBuilder.expect([.implausibleDate]) {
            $0.transaction.purchaseDate = Self.extremes[0]
        } _: {
            $0.transaction?.purchaseDate == Self.extremes[0] && $0.state(at: NotificationBuilder.now) == .active
        }
        try await NotificationBuilder.expect([.implausibleDate, .expiryBeforePurchase]) {
            $0.transaction.purchaseDate = Self.extremes[1]
        } _: {
            $0.transaction?.purchaseDate == Self.extremes[1] && $0.state(at: NotificationBuilder.now) == .expired
        }
        var odd = NotificationBuilder()
        odd.transaction.purchaseDate = Self.extremes[1]
        var next = NotificationBuilder()
        next.transaction.transactionId = "1002"
        for notifications in [[odd, next], [next, odd]] {
            let signed = try notifications.map { try $0.signed() }
            try await TestDatabase.connected { connection async throws in
                #expect(try await NotificationBuilder.run(signed, connection) == [.ledger, .ledger])
                let state = try await SubscriptionStore(connection).find(NotificationBuilder.key())
                #expect(state?.transaction?.transactionId == "1002")
            }
        }
    }

    @Test func `A revocation in the year 1 or 9999 revokes`() async throws {
        for (date, anomalies) in zip(Self.extremes, [[.revocationBeforePurchase], []] as [Set<Anomaly>]) {
            try await NotificationBuilder.expect(anomalies.union([.implausibleDate])) {
                $0.payload.notificationType = .refund
                $0.transaction.revocationDate = date
            } _: {
                $0.transaction?.revocationDate == date && $0.state(at: NotificationBuilder.now) == .revoked
            }
        }
    }

    @Test func `A grace period until the year 1 gives no access, and one until the year 9999 gives access until then`()
        async throws
    {
        for (date, state) in zip(Self.extremes, [.billingRetry, .gracePeriod] as [SubscriptionState]) {
            try await NotificationBuilder.expect([.implausibleDate]) {
                $0.payload.notificationType = .didFailToRenew
                $0.payload.subtype = .gracePeriod
                $0.data.status = .billingGracePeriod
                $0.transaction.expiresDate = NotificationBuilder.now.addingTimeInterval(-3600)
                $0.renewal?.isInBillingRetryPeriod = true
                $0.renewal?.gracePeriodExpiresDate = date
            } _: {
                $0.renewal?.gracePeriodExpiresDate == date && $0.state(at: NotificationBuilder.now) == state
            }
        }
    }

    @Test func `A payload signed in the year 1 or 9999 is rejected by the verifier`() async throws {
        let notifications = try Self.extremes.map { date in
            var notification = NotificationBuilder()
            notification.payload.signedDate = date
            return try notification.signed()
        }
        let signedObjects = try Self.extremes.map { date in
            var notification = NotificationBuilder()
            notification.transaction.signedDate = date
            return try notification.signed()
        }
        try await TestDatabase.connected { connection async throws in
            #expect(
                try await NotificationBuilder.run(notifications + signedObjects, connection) == [
                    .verifier("expired-at-signing"), .verifier("not-yet-valid"), .verifier("expired-at-signing"),
                    .verifier("not-yet-valid"),
                ])
        }
    }
}
