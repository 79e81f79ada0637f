import AppStore
import Foundation
import Storage
import Subscriptions
import TestSupport
import Testing

/// Dates of the year 1 and the year 9999, wherever Apple may sign one.
@Suite(.serialized) struct ImplausibleDateTests {
    static let extremes = [-62_135_596_800, 253_402_300_799].map { Date(timeIntervalSince1970: $0) }

    @Test(arguments: [-62_135_596_800, 253_402_300_799] as [Double])
    func `a date of the year 1 or 9999 is kept`(seconds: Double) async throws {
        let date = Date(timeIntervalSince1970: seconds)
        try await Letter.expect([.implausibleDate]) {
            $0.transaction.originalPurchaseDate = date
        } _: {
            $0.transaction?.originalPurchaseDate == date
        }
    }

    @Test func `a period that ends in the year 9999 gives access until then`() async throws {
        let end = Date(timeIntervalSince1970: 253_402_300_799)
        try await Letter.expect([.implausibleDate]) {
            $0.transaction.expiresDate = end
        } _: {
            $0.state(at: end.addingTimeInterval(-1)) == .active && $0.state(at: end) != .active
        }
    }

    @Test func `a purchase in the year 1 counts, and one in the year 9999 gives no access and gives way to the next`()
        async throws
    {
        try await Letter.expect([.implausibleDate]) {
            $0.transaction.purchaseDate = Self.extremes[0]
        } _: {
            $0.transaction?.purchaseDate == Self.extremes[0] && $0.state(at: Letter.now) == .active
        }
        try await Letter.expect([.implausibleDate, .expiryBeforePurchase]) {
            $0.transaction.purchaseDate = Self.extremes[1]
        } _: {
            $0.transaction?.purchaseDate == Self.extremes[1] && $0.state(at: Letter.now) == .expired
        }
        var odd = Letter()
        odd.transaction.purchaseDate = Self.extremes[1]
        var next = Letter()
        next.transaction.transactionId = "1002"
        for letters in [[odd, next], [next, odd]] {
            let signed = try letters.map { try $0.signed() }
            try await TestDatabase.use { database async throws in
                let connection = TestDatabase.connection(database)
                #expect(try await Letter.run(signed, connection) == [.ledger, .ledger])
                let state = try await SubscriptionStore(connection).find(Letter.key())
                #expect(state?.transaction?.transactionId == "1002")
                await connection.close()
            }
        }
    }

    @Test func `what was taken back in the year 1 or 9999 is taken back`() async throws {
        for (date, anomalies) in zip(Self.extremes, [[.revocationBeforePurchase], []] as [Set<Anomaly>]) {
            try await Letter.expect(anomalies.union([.implausibleDate])) {
                $0.payload.notificationType = .refund
                $0.transaction.revocationDate = date
            } _: {
                $0.transaction?.revocationDate == date && $0.state(at: Letter.now) == .revoked
            }
        }
    }

    @Test func `a grace until the year 1 is none, one until the year 9999 goes on until then`() async throws {
        for (date, state) in zip(Self.extremes, [.billingRetry, .gracePeriod] as [SubscriptionState]) {
            try await Letter.expect([.implausibleDate]) {
                $0.payload.notificationType = .didFailToRenew
                $0.payload.subtype = .gracePeriod
                $0.data.status = .billingGracePeriod
                $0.transaction.expiresDate = Letter.now.addingTimeInterval(-3600)
                $0.renewal?.isInBillingRetryPeriod = true
                $0.renewal?.gracePeriodExpiresDate = date
            } _: {
                $0.renewal?.gracePeriodExpiresDate == date && $0.state(at: Letter.now) == state
            }
        }
    }

    @Test func `what says it was signed in the year 1 or 9999 is refused by the verifier`() async throws {
        let letters = try Self.extremes.map { date in
            var letter = Letter()
            letter.payload.signedDate = date
            return try letter.signed()
        }
        let parts = try Self.extremes.map { date in
            var letter = Letter()
            letter.transaction.signedDate = date
            return try letter.signed()
        }
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            #expect(
                try await Letter.run(letters + parts, connection) == [
                    .verifier("expired-at-signing"), .verifier("not-yet-valid"), .verifier("expired-at-signing"),
                    .verifier("not-yet-valid"),
                ])
            await connection.close()
        }
    }
}
