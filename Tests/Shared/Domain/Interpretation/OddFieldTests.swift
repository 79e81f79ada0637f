import AppStore
import Foundation
import Subscriptions
import Testing

/// Payloads that Apple may sign in the future: unknown values, and fields of another JSON type.
@Suite(.serialized) struct OddFieldTests {
    @Test func `An unknown value of autoRenewStatus is neither on nor off`() async throws {
        try await NotificationBuilder.expect([.unknownValue]) {
            $0.renewal?.autoRenewStatus = AutoRenewStatus(rawValue: 2)
        } _: {
            $0.renewal != nil && $0.renewal?.autoRenewStatus == nil
                && $0.state(at: NotificationBuilder.now.addingTimeInterval(2 * 86_400)) == .overdue
        }
        for (status, state) in [(AutoRenewStatus.off, SubscriptionState.expired), (.on, .overdue)] {
            try await NotificationBuilder.expect([]) {
                $0.renewal?.autoRenewStatus = status
            } _: {
                $0.state(at: NotificationBuilder.now.addingTimeInterval(2 * 86_400)) == state
            }
        }
    }

    @Test func `A refund counts although every other field is unreadable`() async throws {
        try await NotificationBuilder.expect([.unreadableField]) {
            $0.payload.notificationType = .refund
            $0.data.status = .revoked
            $0.transaction.price = nil
            $0.transaction.quantity = nil
            $0.transaction.revocationDate = NotificationBuilder.now
            $0.renewal?.autoRenewProductId = nil
            $0.oddTransaction = """
                ,"webOrderLineItemId":1,"quantity":"1","inAppOwnershipType":2,"revocationReason":"0","offerType":"1",\
                "offerIdentifier":[],"storefront":{},"storefrontId":143441,"transactionReason":3,"currency":["EUR"],\
                "price":9990.5,"offerDiscountType":false,"offerPeriod":30,"revocationType":1,\
                "revocationPercentage":99.5,"billingPlanType":0,"previousOriginalTransactionId":7
                """
            $0.oddRenewal = """
                ,"autoRenewStatus":"1","expirationIntent":"2","autoRenewProductId":5,"priceIncreaseStatus":true,\
                "offerType":[],"offerIdentifier":1,"currency":1,"renewalPrice":"4.99","offerDiscountType":0,\
                "eligibleWinBackOfferIds":[1],"appAccountToken":1,"appTransactionId":2,"offerPeriod":3,\
                "renewalBillingPlanType":4
                """
        } _: {
            $0.state(at: NotificationBuilder.now) == .revoked && $0.transaction?.priceMilliunits == nil
        }
    }

    @Test func `An empty text is none: no other purchase, product, customer or reason`() async throws {
        try await NotificationBuilder.expect([]) {
            $0.payload.notificationType = .didFailToRenew
            $0.payload.subtype = .gracePeriod
            $0.data.status = .billingGracePeriod
            $0.transaction.expiresDate = NotificationBuilder.now.addingTimeInterval(-3600)
            $0.transaction.appTransactionId = ""
            $0.transaction.subscriptionGroupIdentifier = ""
            $0.transaction.previousOriginalTransactionId = ""
            $0.transaction.transactionReason = TransactionReason(rawValue: "")
            $0.transaction.additionalTransactionReason = AdditionalTransactionReason(rawValue: "")
            $0.renewal?.originalTransactionId = ""
            $0.renewal?.productId = ""
            $0.renewal?.isInBillingRetryPeriod = true
            $0.renewal?.gracePeriodExpiresDate = NotificationBuilder.now.addingTimeInterval(86_400)
        } _: {
            let transaction = $0.transaction
            return $0.state(at: NotificationBuilder.now) == .gracePeriod && $0.renewal?.productId == nil
                && transaction?.appTransactionId == nil && transaction?.subscriptionGroupIdentifier == nil
                && transaction?.previousOriginalTransactionId == nil && transaction?.reason == nil
                && transaction?.additionalTransactionReason == nil
        }
    }

    @Test func `A payload nested as deep as the verifier allows reaches the ledger`() async throws {
        try await NotificationBuilder.expect([]) {
            $0.oddTransaction =
                ",\"advancedCommerceInfo\":" + String(repeating: "[", count: 15) + String(repeating: "]", count: 15)
        } _: {
            $0.state(at: NotificationBuilder.now) == .active
        }
    }
}
