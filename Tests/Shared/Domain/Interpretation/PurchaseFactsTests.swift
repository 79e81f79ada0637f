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

    @Test(
        arguments: [
            (nil, ["PENDING"], 0), (nil, ["ACCEPTED", "PENDING"], 0), (nil, ["SCHEDULED", "ACCEPTED"], 1),
            (nil, ["SCHEDULED"], nil), (nil, [], nil), (.accepted, ["PENDING"], 1),
        ] as [(PriceIncreaseStatus?, [String], Int?)])
    func `RenewalFacts sum up the consent to the price increases of Advanced Commerce`(
        whole: PriceIncreaseStatus?, items: [String], expected: Int?
    ) {
        var renewal = JWSRenewalInfoDecodedPayload()
        renewal.priceIncreaseStatus = whole
        let texts = items.map { #"{"SKU":"a","priceIncreaseInfo":{"price":2500,"status":"\#($0)"}}"# }
        renewal.advancedCommerceInfo = RawJSON(Array(#"{"items":[\#(texts.joined(separator: ","))]}"#.utf8))
        #expect(RenewalFacts(renewal, signedDate: Self.now).priceIncreaseStatus == expected)
    }

    private static func refunded(_ items: String, price: Int64? = 9_990) -> JWSTransactionDecodedPayload {
        var transaction = NotificationBuilder().transaction
        transaction.price = price
        transaction.advancedCommerceInfo = RawJSON(Array(#"{"items":[\#(items)]}"#.utf8))
        return transaction
    }

    @Test(
        arguments: [
            (#"{"SKU":"a","refunds":[{"refundAmount":999}]},{"SKU":"b"}"#, 9_990, 10_000),
            (#"{"refunds":[{"refundAmount":9},{"refundAmount":1}]},{"refunds":[{"refundAmount":5}]}"#, 30, 50_000),
            (#"{"SKU":"a","refunds":[{"refundAmount":10000}]}"#, 9_990, 100_000),
            (#"{"SKU":"a","refunds":[{"refundAmount":9223372036854775807}]}"#, 9_990, 100_000),
            (#"{"SKU":"a","refunds":[{"refundAmount":-5}]}"#, 9_990, 0),
            (#"{"SKU":"a","refunds":[{"refundAmount":999},{}]}"#, 9_990, nil), (#"{"SKU":"a"}"#, 9_990, nil),
            (#"{"refunds":[{"refundAmount":1}]}"#, nil, nil), (#"{"refunds":[{"refundAmount":1}]}"#, 0, nil),
        ] as [(String, Int64?, Int64?)])
    func `TransactionFacts sum up the refunds of the items of Advanced Commerce`(
        items: String, price: Int64?, expected: Int64?
    ) throws {
        let facts = try #require(TransactionFacts(Self.refunded(items, price: price), signedDate: Self.now))
        #expect(facts.revocationPercentage == expected)
    }

    @Test func `TransactionFacts hold the refunds of items, if Apple says of each when and how much`() throws {
        func refunds(_ items: String) throws -> [TransactionFacts.ItemRefund] {
            try #require(TransactionFacts(Self.refunded(items), signedDate: Self.now)).itemRefunds
        }
        let first = #"{"refundAmount":999,"refundDate":1767225600000}"#
        let second = #"{"refundAmount":5,"refundDate":1767225600123}"#
        #expect(
            try refunds(#"{"SKU":"a","refunds":[\#(first)]},{"SKU":"b"},{"SKU":"c","refunds":[\#(second)]}"#) == [
                .init(date: Date(timeIntervalSince1970: 1_767_225_600), amount: 999),
                .init(date: Date(timeIntervalSince1970: 1_767_225_600.123), amount: 5),
            ])
        #expect(try refunds(#"{"SKU":"a","refunds":[\#(first),{"refundAmount":5}]}"#).isEmpty)
        #expect(try refunds(#"{"SKU":"a"}"#).isEmpty)
    }

    @Test func `A transaction is refunded by item while it has no revocation date of its own`() {
        #expect(!Self.refunded(#"{"SKU":"a"}"#).isRefundedByItem)
        #expect(Self.refunded(#"{"SKU":"a","refunds":[{"refundAmount":999}]},{"SKU":"b"}"#).isRefundedByItem)
        var revoked = Self.refunded(#"{"SKU":"a","revocationDate":1767225600000},{"SKU":"b"}"#)
        #expect(revoked.isRefundedByItem)
        revoked.revocationDate = Self.now
        #expect(!revoked.isRefundedByItem)
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
