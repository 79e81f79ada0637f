import AppStore
import Contracts
import Foundation
import Records
import Storage
import Subscriptions
import Testing

@testable import Interpretation

/// Reads the stored fields from Apple's payloads, field by field (L5, L20).
@Suite struct PurchaseFactsTests {
    private static let now = SignedHistory.now

    @Test func `TransactionFacts hold seats, storefront, offer, billing plan and refunded share`() throws {
        var transaction = NotificationBuilder().transaction
        transaction.additionalTransactionReason = .seatAddition
        transaction.multiSeatInfo = RawJSON(Array(#"{"invitationManagement":"APPLE","revokedSeatQuantity":2}"#.utf8))
        transaction.revocationPercentage = 50_000
        transaction.storefront = "DEU"
        transaction.offerPeriod = "P1M"
        transaction.billingPlanType = .monthly
        transaction.commitmentInfo = RawJSON(Array(#"{"billingPeriodNumber":3}"#.utf8))
        // Apple signs the revoked seats within `multiSeatInfo` only.
        let json = DecodedNotification.decoded(transaction: transaction.json)
        let read = try #require(try DecodedNotification(decoded: json).transaction)
        let facts = try #require(TransactionFacts(read, signedDate: Self.now))
        #expect(facts.additionalTransactionReason == "SEAT_ADDITION")
        #expect(facts.revokedSeatQuantity == 2)
        #expect(facts.multiSeatInfo == #"{"invitationManagement":"APPLE","revokedSeatQuantity":2}"#)
        #expect(facts.revocationPercentage == 50_000)
        #expect(facts.storefront == "DEU")
        #expect(facts.offerPeriod == "P1M")
        #expect(facts.billingPlanType == "MONTHLY")
        #expect(facts.commitmentInfo == #"{"billingPeriodNumber":3}"#)
    }

    @Test func `RenewalFacts hold account, win-back offers, offer, billing plan and commitment`() throws {
        var renewal = JWSRenewalInfoDecodedPayload()
        renewal.appAccountToken = "B5E0A6A0-6A3C-4A26-8DCB-5A2F66D6B3A5"
        renewal.eligibleWinBackOfferIds = ["best", "second"]
        renewal.offerPeriod = "P3D"
        renewal.renewalBillingPlanType = .billedUpfront
        renewal.commitmentInfo = RawJSON(Array(#"{"c":1}"#.utf8))
        let facts = RenewalFacts(renewal, signedDate: Self.now)
        #expect(facts.appAccountToken == "b5e0a6a0-6a3c-4a26-8dcb-5a2f66d6b3a5")
        #expect(facts.eligibleWinBackOfferIds == ["best", "second"])
        #expect(facts.offerPeriod == "P3D")
        #expect(facts.billingPlanType == "BILLED_UPFRONT")
        #expect(facts.commitmentInfo == #"{"c":1}"#)
    }

    private static func event(
        _ type: String, _ status: UnsignedStatus?, signedDate: Date? = now
    ) throws -> PurchaseEvent {
        let notification = VerifiedNotification(
            notificationUUID: UUID(), notificationType: type, subtype: nil, environment: .production,
            bundleId: NotificationBuilder.apps[0], appAppleId: nil, originalTransactionId: "1000",
            transactionId: "1001",
            signedDate: signedDate, receivedAt: now, source: .history, traceparent: nil,
            decoded: DecodedNotification.decoded(transaction: NotificationBuilder().transaction.json, status: status),
            signedPayload: [])
        let entry = try LedgerEntry(notification, position: LogPosition(topic: "t", partition: 0, offset: 0))
        return try #require(entry.event)
    }

    @Test func `A status fetched with a transaction signed by itself counts from the date of the response`() throws {
        let later = Self.now.addingTimeInterval(60)
        let answered = try Self.event(
            SignedPart.transaction.rawValue, UnsignedStatus(status: .billingRetry, date: later))
        #expect(answered.status == 3)
        #expect(answered.version.signedDate == later)
        #expect(answered.transaction?.signedDate == Self.now)
        let earlier = try Self.event(
            SignedPart.transaction.rawValue, UnsignedStatus(status: .active, date: Self.now.addingTimeInterval(-60)))
        #expect(earlier.version.signedDate == Self.now)
        // Apple's payloads have no such member; a notification's own status is signed.
        let notification = try Self.event("DID_RENEW", UnsignedStatus(status: .revoked, date: later))
        #expect(notification.status == nil)
        #expect(notification.version.signedDate == Self.now)
        let grace = try Self.event(
            SignedPart.transaction.rawValue, UnsignedStatus(status: .billingGracePeriod, date: later))
        #expect(!grace.anomalies.contains(.graceWithoutEnd))
    }
}
