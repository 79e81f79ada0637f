import Foundation
import Subscriptions
import Testing

@Suite struct EventTypeTests {
    /// Apple's whole event table: what is told of each row on day 27 of a period of 30 days of gold.
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
        .choiceUndone: "The customer stays with gold and took back the choice of another product.",
        .renewalTurnedOff: "Auto-renew was switched off 3 days before the end of the period.",
        .renewalTurnedOn: "Auto-renew was switched on 3 days before the end of the period.",
        .renewed: "gold renewed with an offer code (spring) until 2026-01-31T00:00:00.000Z.",
        .billingRecovered: "The charge went through and gold goes on until 2026-01-31T00:00:00.000Z.",
        .billingFailed: "The charge failed; there is no access while Apple tries again for up to 60 days.",
        .billingFailedWithGrace:
            "The charge failed; access goes on until 2026-02-16T00:00:00.000Z while Apple tries again.",
        .graceEnded: "The grace period is over without a charge; access ends while Apple tries on.",
        .expired: "gold expired; Apple gave no reason.",
        .expiredVoluntarily: "gold expired because auto-renew was off.",
        .expiredInBillingRetry: "gold expired because the charge failed for good.",
        .expiredOverPrice: "gold expired because the customer did not agree to the new price.",
        .expiredUnsold: "gold expired because it was no longer sold.",
        .priceIncreasePending:
            "The customer was asked to agree to a price increase to 12.050 EUR and has not answered.",
        .priceIncreaseAccepted: "The customer agreed to the price increase to 12.050 EUR, or need not be asked.",
        .priceChanged: "The price of gold changed to 12.050 EUR.",
        .refunded: "Apple refunded gold; that purchase gives no access any more.",
        .seatsRefunded: "Apple refunded seats of gold; the others stay.",
        .refundDeclined: "Apple declined the refund of gold; access stays.",
        .refundReversed: "Apple took back the refund of gold; what was bought is reinstated.",
        .consumptionRequested:
            "The customer wants money back for gold (UNINTENDED_PURCHASE); Apple asks how far it was "
            + "used, within 12 hours.",
        .familyAccessRevoked: "The family no longer shares gold; access ends.",
        .extended: "The renewal date of gold was extended; the period runs until 2026-01-31T00:00:00.000Z.",
        .massExtensionFailed: "The renewal date of gold could not be extended in a mass extension.",
        .massExtensionDone: "A mass extension of renewal dates is complete.",
        .boughtOnce: "The customer bought 1 × gold.",
        .tokenUnreported: "A token for purchases outside of the App Store was not reported on.",
        .tokenCreated: "A token for purchases outside of the App Store was made.",
        .tokenReminder: "A token for purchases outside of the App Store is still open.",
        .consentRescinded: "A parent withdrew the consent to use the app.",
        .metadataUpdated: "Names or descriptions of gold changed.",
        .migrated: "The subscription was moved to gold.",
        .seatsUnclaimed: "Seats of gold were given back.",
        .tested: "This is a test that we asked for.",
    ]

    static func news(_ event: String) -> PurchaseEvent {
        var transaction = Sample.period()
        transaction.offerType = 3
        transaction.offerIdentifier = "spring"
        var renewal = Sample.renewal(grace: 46)
        renewal.autoRenewProductId = "silver"
        renewal.renewalPriceMilliunits = 12_050
        renewal.currency = "EUR"
        var news = Sample.news(event, signed: 27, transaction: transaction, renewal: renewal)
        news.consumptionRequestReason = "UNINTENDED_PURCHASE"
        return news
    }

    @Test(arguments: EventType.allCases) func `each row of the event table is told in words`(
        eventType: EventType
    ) {
        let news = Self.news(eventType.rawValue)
        #expect(news.eventType == eventType)
        #expect(news.sentence == Self.table[eventType])
        #expect(news.eventType == eventType)
        #expect(!news.anomalies.contains(.unknownEvent))
    }

    @Test func `a kind to come is told by its raw name, kept and doubted`() {
        let news = Self.news("DID_DREAM/OF_SHEEP")
        #expect(news.eventType == nil)
        #expect(news.sentence.contains("DID_DREAM/OF_SHEEP"))
        #expect(news.anomalies == [.unknownEvent])
        #expect(Sample.state(news)?.transaction == news.transaction)
    }

    @Test func `an unknown variant of a known kind is unknown, and an empty one is none`() {
        #expect(EventType(notificationType: "EXPIRED", subtype: "BORED") == nil)
        #expect(EventType(notificationType: "EXPIRED", subtype: "") == .expired)
    }

    @Test func `news without any facts is told without inventing them`() {
        for eventType in EventType.allCases {
            let sentence = Sample.news(eventType.rawValue, signed: 1).sentence
            #expect(sentence.hasSuffix("."))
            #expect(!sentence.contains("nil"))
        }
        #expect(
            Sample.news("DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", signed: 1).sentence
                == "Auto-renew was switched off at a time unknown within the period.")
    }

    @Test func `the family, a part of the money and the app's fault are named`() {
        var shared = Sample.news("SUBSCRIBED/INITIAL_BUY", signed: 0, transaction: Sample.period())
        shared.transaction?.ownership = "FAMILY_SHARED"
        #expect(shared.sentence == "The family shares gold until 2026-01-31T00:00:00.000Z.")
        var refund = Sample.news("REFUND", signed: 1, transaction: Sample.period(revoked: 1))
        refund.transaction?.revocationType = "REFUND_PRORATED"
        refund.transaction?.revocationReason = 1
        #expect(
            refund.sentence
                == "Apple refunded part of gold, because of an issue with the app; "
                + "that purchase gives no access any more."
        )
    }

    @Test(arguments: [
        (29.99, "14 minutes before"), (29.5, "12 hours before"), (29, "1 day before"), (31.5, "1 day after"),
        (30, "less than a minute before"), (-1e9, "thousands of years before"),
    ]) func `a moment is told by its distance from the end`(signed: Double, words: String) {
        var news = Sample.news("DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", signed: 0, transaction: Sample.period())
        news.version.signedDate = Sample.day(signed)
        #expect(news.sentence == "Auto-renew was switched off \(words) the end of the period.")
    }
}
