import Foundation
import Subscriptions
import Testing

@Suite struct EventTypeTests {
    /// Apple's whole event table: the description of each type on day 27 of a period of 30 days of gold.
    static let table: [EventType: String] = [
        .subscribed: "The customer subscribed to gold with an offer code (spring) until 2026-01-31T00:00:00.000Z.",
        .resubscribed:
            "The customer subscribed again, to gold with an offer code (spring) until 2026-01-31T00:00:00.000Z.",
        .subscribedByOffer:
            "The customer subscribed to gold with an offer code (spring) until 2026-01-31T00:00:00.000Z.",
        .resubscribedByOffer:
            "The customer subscribed again, to gold with an offer code (spring) until 2026-01-31T00:00:00.000Z.",
        .offerRedeemed: "The customer redeemed an offer for gold with an offer code (spring).",
        .upgraded:
            "The customer upgraded to gold with an offer code (spring), at once, until 2026-01-31T00:00:00.000Z.",
        .upgradedByOffer:
            "The customer upgraded to gold with an offer code (spring), at once, until 2026-01-31T00:00:00.000Z.",
        .downgradeChosen:
            "The customer chose silver for the next period instead of gold, 3 days before the end of the period.",
        .downgradeChosenByOffer:
            "The customer chose silver for the next period instead of gold, 3 days before the end of the period.",
        .choiceUndone: "The customer cancelled the change to another product and keeps gold.",
        .renewalTurnedOff: "Auto-renew was switched off 3 days before the end of the period.",
        .renewalTurnedOn: "Auto-renew was switched on 3 days before the end of the period.",
        .renewed: "gold renewed with an offer code (spring) until 2026-01-31T00:00:00.000Z.",
        .billingRecovered: "The charge succeeded and gold continues until 2026-01-31T00:00:00.000Z.",
        .billingFailed: "The charge failed; there is no access while Apple retries it for up to 60 days.",
        .billingFailedWithGrace:
            "The charge failed; access continues until 2026-02-16T00:00:00.000Z while Apple retries it.",
        .graceEnded: "The grace period ended without a charge; access ends while Apple retries the charge.",
        .expired: "gold expired; Apple gave no reason.",
        .expiredVoluntarily: "gold expired because auto-renew was off.",
        .expiredInBillingRetry: "gold expired because Apple could not charge during billing retry.",
        .expiredOverPrice: "gold expired because the customer did not agree to the price increase.",
        .expiredUnsold: "gold expired because it was no longer for sale.",
        .priceIncreasePending:
            "The customer was asked to agree to a price increase to 12.050 EUR on 2026-01-31T00:00:00.000Z and has not "
            + "answered.",
        .priceIncreaseAccepted:
            "The customer agreed to the price increase to 12.050 EUR on 2026-01-31T00:00:00.000Z, or it needs no consent.",
        .priceChanged: "The price of gold changed to 12.050 EUR on 2026-01-31T00:00:00.000Z.",
        .refunded: "Apple refunded gold; that transaction gives no access any more.",
        .seatsRefunded: "Apple refunded seats of gold; the other seats stay valid.",
        .refundDeclined: "Apple declined the refund of gold; access continues.",
        .refundReversed: "Apple reversed the refund of gold; the purchase is reinstated.",
        .consumptionRequested:
            "The customer requested a refund of gold (UNINTENDED_PURCHASE); Apple asks for consumption "
            + "information within 12 hours.",
        .familyAccessRevoked: "gold is no longer available by family sharing; access ends.",
        .extended: "The renewal date of gold was extended; the period lasts until 2026-01-31T00:00:00.000Z.",
        .massExtensionFailed: "The renewal date of gold could not be extended in a mass extension.",
        .massExtensionDone: "A mass extension of renewal dates is complete.",
        .boughtOnce: "The customer bought 1 × gold.",
        .tokenUnreported: "Apple received no report for an external purchase token.",
        .tokenCreated: "Apple created an external purchase token.",
        .tokenReminder: "An external purchase token is still active.",
        .consentRescinded: "A parent withdrew the consent to use the app.",
        .metadataUpdated: "Names or descriptions of gold changed.",
        .migrated: "The subscription was migrated to gold.",
        .seatsUnclaimed: "Seats of gold were unclaimed.",
        .tested: "Apple sent a test notification that was requested.",
    ]

    static func event(_ name: String) -> PurchaseEvent {
        var transaction = Sample.period()
        transaction.offerType = 3
        transaction.offerIdentifier = "spring"
        var renewal = Sample.renewal(grace: 46)
        renewal.autoRenewProductId = "silver"
        renewal.renewalPriceMilliunits = 12_050
        renewal.currency = "EUR"
        var event = Sample.event(name, signed: 27, transaction: transaction, renewal: renewal)
        event.consumptionRequestReason = "UNINTENDED_PURCHASE"
        return event
    }

    @Test(arguments: EventType.allCases) func `Every event type has its description`(
        eventType: EventType
    ) {
        let event = Self.event(eventType.rawValue)
        #expect(event.eventType == eventType)
        #expect(event.sentence == Self.table[eventType])
        #expect(event.eventType == eventType)
        #expect(!event.anomalies.contains(.unknownEvent))
    }

    @Test func `Price change names the old price, the new one and its day`() {
        var event = Self.event("PRICE_CHANGE")
        event.transaction?.offerType = nil
        event.transaction?.priceMilliunits = 9_990
        event.transaction?.currency = "EUR"
        event.renewal?.renewalDate = Sample.day(31)
        event.renewal?.autoRenewProductId = "gold"
        #expect(
            event.sentence == "The price of gold changed from 9.990 EUR to 12.050 EUR on 2026-02-01T00:00:00.000Z.")
        // The next period is of another product, or has an offer: its price is no change of what was paid.
        var (other, offered) = (event, event)
        other.renewal?.autoRenewProductId = "silver"
        offered.renewal?.offerType = 2
        #expect(!other.sentence.contains(" from "))
        #expect(!offered.sentence.contains(" from "))
    }

    @Test func `An unknown event type is described by its raw name, stored and an anomaly`() {
        let event = Self.event("DID_DREAM/OF_SHEEP")
        #expect(event.eventType == nil)
        #expect(event.sentence.contains("DID_DREAM/OF_SHEEP"))
        #expect(event.anomalies == [.unknownEvent])
        #expect(Sample.state(event)?.transaction == event.transaction)
    }

    @Test func `A renewal that was charged before its period begins says so`() {
        let event = Sample.event("DID_RENEW", signed: 29, transaction: Sample.period("2", from: 30, to: 60))
        #expect(event.sentence.hasSuffix(", charged early: the period begins on 2026-01-31T00:00:00.000Z."))
    }

    @Test func `An unknown subtype is an unknown event type, and an empty subtype is none`() {
        #expect(EventType(notificationType: "EXPIRED", subtype: "BORED") == nil)
        #expect(EventType(notificationType: "EXPIRED", subtype: "") == .expired)
    }

    @Test func `An event without any facts has a description`() {
        for eventType in EventType.allCases {
            let sentence = Sample.event(eventType.rawValue, signed: 1).sentence
            #expect(sentence.hasSuffix("."))
            #expect(!sentence.contains("nil"))
        }
        #expect(
            Sample.event("DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", signed: 1).sentence
                == "Auto-renew was switched off at a time unknown within the period.")
    }

    @Test func `The description names family sharing, a prorated refund and an issue with the app`() {
        var shared = Sample.event("SUBSCRIBED/INITIAL_BUY", signed: 0, transaction: Sample.period())
        shared.transaction?.ownership = "FAMILY_SHARED"
        #expect(shared.sentence == "The customer got gold by family sharing until 2026-01-31T00:00:00.000Z.")
        var refund = Sample.event("REFUND", signed: 1, transaction: Sample.period(revoked: 1))
        refund.transaction?.revocationType = "REFUND_PRORATED"
        refund.transaction?.revocationReason = 1
        #expect(
            refund.sentence
                == "Apple refunded part of gold, because of an issue with the app; "
                + "that transaction gives no access any more."
        )
    }

    @Test func `The description of a refund of some items says that the purchase goes on`() {
        var refund = Sample.event("REFUND", signed: 1, status: 1, transaction: Sample.period())
        refund.isRefundOfItems = true
        #expect(
            refund.sentence
                == "Apple refunded items of gold; the purchase goes on with those that were not revoked.")
        // All items, of which Apple signs no type: a share was refunded, and the transaction is over.
        refund = Sample.event("REFUND", signed: 1, transaction: Sample.period(revoked: 1))
        refund.transaction?.revocationPercentage = 40_000
        #expect(refund.sentence == "Apple refunded part of gold; that transaction gives no access any more.")
    }

    @Test(arguments: [
        (29.99, "14 minutes before"), (29.5, "12 hours before"), (29, "1 day before"), (31.5, "1 day after"),
        (30, "less than a minute before"), (-1e9, "thousands of years before"),
    ]) func `The description of a switch says how long before the end it was`(signed: Double, words: String) {
        var event = Sample.event(
            "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", signed: 0, transaction: Sample.period())
        event.version.signedDate = Sample.day(signed)
        #expect(event.sentence == "Auto-renew was switched off \(words) the end of the period.")
    }
}
