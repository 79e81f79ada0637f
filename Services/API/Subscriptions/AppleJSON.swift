import Contracts
import Storage
import StrictJSON
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

// Apple's facts by Apple's names. What Apple did not send is left out.

extension JSONWriter {
    /// Left out where it is nil.
    mutating func given(_ name: String, _ value: String?) { if let value { member(name, value) } }
    /// Left out where it is nil.
    mutating func given(_ name: String, _ value: Int64?) { if let value { member(name, value) } }
    /// Left out where it is nil.
    mutating func given(_ name: String, _ value: Int?) { if let value { member(name, value) } }
    /// Left out where it is nil.
    mutating func given(_ name: String, _ value: Bool?) { if let value { member(name, value) } }
    /// Milliseconds; left out where it is nil.
    mutating func given(_ name: String, _ value: Date?) { if let value { member(name, value.milliseconds) } }
    /// JSON text; left out where it is nil.
    mutating func given(_ name: String, json value: String?) { if let value { member(name, raw: Array(value.utf8)) } }

    /// The facts of a [JWSTransactionDecodedPayload](https://developer.apple.com/documentation/appstoreserverapi/jwstransactiondecodedpayload).
    mutating func transaction(_ facts: TransactionFacts, originalTransactionId: String, bundleId: String) {
        member("transactionId", facts.transactionId)
        member("originalTransactionId", originalTransactionId)
        member("bundleId", bundleId)
        member("productId", facts.productId)
        member("type", facts.productType)
        given("subscriptionGroupIdentifier", facts.subscriptionGroupIdentifier)
        given("purchaseDate", facts.purchaseDate)
        given("originalPurchaseDate", facts.originalPurchaseDate)
        given("expiresDate", facts.expiresDate)
        given("quantity", facts.quantity)
        given("appAccountToken", facts.appAccountToken)
        given("inAppOwnershipType", facts.ownership)
        member("isUpgraded", facts.isUpgraded)
        given("revocationDate", facts.revocationDate)
        given("revocationReason", facts.revocationReason)
        given("revocationType", facts.revocationType)
        given("revocationPercentage", facts.revocationPercentage)
        given("revokedSeatQuantity", facts.revokedSeatQuantity)
        given("offerType", facts.offerType)
        given("offerIdentifier", facts.offerIdentifier)
        given("offerPeriod", facts.offerPeriod)
        given("offerDiscountType", facts.offerDiscountType)
        given("price", facts.priceMilliunits)
        given("currency", facts.currency)
        given("storefront", facts.storefront)
        given("transactionReason", facts.reason)
        given("additionalTransactionReason", facts.additionalTransactionReason)
        given("appTransactionId", facts.appTransactionId)
        given("webOrderLineItemId", facts.webOrderLineItemId)
        given("previousOriginalTransactionId", facts.previousOriginalTransactionId)
        given("billingPlanType", facts.billingPlanType)
        given("commitmentInfo", json: facts.commitmentInfo)
        given("multiSeatInfo", json: facts.multiSeatInfo)
        member("signedDate", facts.signedDate.milliseconds)
    }

    /// The facts of a [JWSRenewalInfoDecodedPayload](https://developer.apple.com/documentation/appstoreserverapi/jwsrenewalinfodecodedpayload).
    mutating func renewal(_ facts: RenewalFacts) {
        given("autoRenewStatus", facts.autoRenewStatus.map { $0 ? 1 : 0 })
        given("autoRenewProductId", facts.autoRenewProductId)
        given("productId", facts.productId)
        given("isInBillingRetryPeriod", facts.isInBillingRetry)
        given("gracePeriodExpiresDate", facts.gracePeriodExpiresDate)
        given("expirationIntent", facts.expirationIntent)
        given("priceIncreaseStatus", facts.priceIncreaseStatus)
        given("recentSubscriptionStartDate", facts.recentSubscriptionStartDate)
        given("renewalDate", facts.renewalDate)
        given("renewalPrice", facts.renewalPriceMilliunits)
        given("currency", facts.currency)
        given("offerType", facts.offerType)
        given("offerIdentifier", facts.offerIdentifier)
        given("offerPeriod", facts.offerPeriod)
        given("appAccountToken", facts.appAccountToken)
        if let offers = facts.eligibleWinBackOfferIds { strings("eligibleWinBackOfferIds", of: offers) }
        given("billingPlanType", facts.billingPlanType)
        given("commitmentInfo", json: facts.commitmentInfo)
        member("signedDate", facts.signedDate.milliseconds)
    }
}
