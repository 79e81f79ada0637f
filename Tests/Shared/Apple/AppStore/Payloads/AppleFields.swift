import AppStore
import Foundation

/// What Apple documents, field by field, as JSON and as we are to read it. Written by hand twice, so that a misspelt name
/// cannot agree with itself.
enum AppleFields {
    static let transaction = #"""
        {"originalTransactionId":"t1","transactionId":"t2","webOrderLineItemId":"t3","bundleId":"t4","productId":"t5",
        "subscriptionGroupIdentifier":"t6","purchaseDate":1000,"originalPurchaseDate":2000,"expiresDate":3000,
        "quantity":7,"type":"Auto-Renewable Subscription","appAccountToken":"t8","inAppOwnershipType":"FAMILY_SHARED",
        "signedDate":4000,"revocationReason":1,"revocationDate":5000,"isUpgraded":true,"offerType":2,
        "offerIdentifier":"t9","environment":"Sandbox","storefront":"USA","storefrontId":"143441",
        "transactionReason":"RENEWAL","currency":"USD","price":9990,"offerDiscountType":"PAY_UP_FRONT",
        "appTransactionId":"t10","offerPeriod":"P1M","revocationType":"REFUND_PRORATED","revocationPercentage":50000,
        "advancedCommerceInfo":{"a":[1]},"billingPlanType":"MONTHLY","commitmentInfo":{"b":2},
        "previousOriginalTransactionId":"t11","multiSeatInfo":{"s":[1]},
        "additionalTransactionReason":"SEAT_ADDITION","revokedSeatQuantity":3}
        """#

    static var transactionRead: JWSTransactionDecodedPayload {
        var read = JWSTransactionDecodedPayload()
        read.originalTransactionId = "t1"
        read.transactionId = "t2"
        read.webOrderLineItemId = "t3"
        read.bundleId = "t4"
        read.productId = "t5"
        read.subscriptionGroupIdentifier = "t6"
        read.purchaseDate = Date(timeIntervalSince1970: 1)
        read.originalPurchaseDate = Date(timeIntervalSince1970: 2)
        read.expiresDate = Date(timeIntervalSince1970: 3)
        read.quantity = 7
        read.type = .autoRenewableSubscription
        read.appAccountToken = "t8"
        read.inAppOwnershipType = .familyShared
        read.signedDate = Date(timeIntervalSince1970: 4)
        read.revocationReason = RevocationReason(rawValue: 1)
        read.revocationDate = Date(timeIntervalSince1970: 5)
        read.isUpgraded = true
        read.offerType = OfferType(rawValue: 2)
        read.offerIdentifier = "t9"
        read.environment = .sandbox
        read.storefront = "USA"
        read.storefrontId = "143441"
        read.transactionReason = TransactionReason(rawValue: "RENEWAL")
        read.currency = "USD"
        read.price = 9990
        read.offerDiscountType = OfferDiscountType(rawValue: "PAY_UP_FRONT")
        read.appTransactionId = "t10"
        read.offerPeriod = "P1M"
        read.revocationType = .refundProrated
        read.revocationPercentage = 50_000
        read.advancedCommerceInfo = RawJSON(Array(#"{"a":[1]}"#.utf8))
        read.billingPlanType = .monthly
        read.commitmentInfo = RawJSON(Array(#"{"b":2}"#.utf8))
        read.previousOriginalTransactionId = "t11"
        read.multiSeatInfo = RawJSON(Array(#"{"s":[1]}"#.utf8))
        read.additionalTransactionReason = .seatAddition
        read.revokedSeatQuantity = 3
        return read
    }

    static let renewalInfo = #"""
        {"expirationIntent":2,"originalTransactionId":"r1","autoRenewProductId":"r2","productId":"r3",
        "autoRenewStatus":0,"isInBillingRetryPeriod":true,"priceIncreaseStatus":1,"gracePeriodExpiresDate":1000,
        "offerType":4,"offerIdentifier":"r4","signedDate":2000,"environment":"Production",
        "recentSubscriptionStartDate":3000,"renewalDate":4000,"currency":"EUR","renewalPrice":4990,
        "offerDiscountType":"FREE_TRIAL","eligibleWinBackOfferIds":["r5","r6"],"appAccountToken":"r7",
        "appTransactionId":"r8","offerPeriod":"P3D","advancedCommerceInfo":{"c":3},"multiSeatInfo":{"s":2},
        "commitmentInfo":{"d":[]},
        "renewalBillingPlanType":"BILLED_UPFRONT"}
        """#

    static var renewalInfoRead: JWSRenewalInfoDecodedPayload {
        var read = JWSRenewalInfoDecodedPayload()
        read.expirationIntent = ExpirationIntent(rawValue: 2)
        read.originalTransactionId = "r1"
        read.autoRenewProductId = "r2"
        read.productId = "r3"
        read.autoRenewStatus = .off
        read.isInBillingRetryPeriod = true
        read.priceIncreaseStatus = PriceIncreaseStatus(rawValue: 1)
        read.gracePeriodExpiresDate = Date(timeIntervalSince1970: 1)
        read.offerType = .winBack
        read.offerIdentifier = "r4"
        read.signedDate = Date(timeIntervalSince1970: 2)
        read.environment = .production
        read.recentSubscriptionStartDate = Date(timeIntervalSince1970: 3)
        read.renewalDate = Date(timeIntervalSince1970: 4)
        read.currency = "EUR"
        read.renewalPrice = 4990
        read.offerDiscountType = OfferDiscountType(rawValue: "FREE_TRIAL")
        read.eligibleWinBackOfferIds = ["r5", "r6"]
        read.appAccountToken = "r7"
        read.appTransactionId = "r8"
        read.offerPeriod = "P3D"
        read.advancedCommerceInfo = RawJSON(Array(#"{"c":3}"#.utf8))
        read.multiSeatInfo = RawJSON(Array(#"{"s":2}"#.utf8))
        read.commitmentInfo = RawJSON(Array(#"{"d":[]}"#.utf8))
        read.renewalBillingPlanType = .billedUpfront
        return read
    }

    static let data = #"""
        {"environment":"Production","appAppleId":123,"bundleId":"d1","bundleVersion":"d2","signedTransactionInfo":"d3",
        "signedRenewalInfo":"d4","status":4,"consumptionRequestReason":"LEGAL"}
        """#

    static var dataRead: NotificationData {
        var read = NotificationData()
        read.environment = .production
        read.appAppleId = 123
        read.bundleId = "d1"
        read.bundleVersion = "d2"
        read.signedTransactionInfo = "d3"
        read.signedRenewalInfo = "d4"
        read.status = .billingGracePeriod
        read.consumptionRequestReason = ConsumptionRequestReason(rawValue: "LEGAL")
        return read
    }

    static let summary = #"""
        {"environment":"Sandbox","appAppleId":124,"bundleId":"s1","productId":"s2","requestIdentifier":"s3",
        "storefrontCountryCodes":["CAN","USA"],"succeededCount":5,"failedCount":6}
        """#

    static var summaryRead: NotificationSummary {
        var read = NotificationSummary()
        read.environment = .sandbox
        read.appAppleId = 124
        read.bundleId = "s1"
        read.productId = "s2"
        read.requestIdentifier = "s3"
        read.storefrontCountryCodes = ["CAN", "USA"]
        read.succeededCount = 5
        read.failedCount = 6
        return read
    }

    static let externalPurchaseToken = #"""
        {"externalPurchaseId":"SANDBOX_e1","tokenCreationDate":1000,"appAppleId":125,"bundleId":"e2",
        "tokenType":"ACQUISITION","tokenExpirationDate":2000}
        """#

    static var externalPurchaseTokenRead: ExternalPurchaseToken {
        var read = ExternalPurchaseToken()
        read.externalPurchaseId = "SANDBOX_e1"
        read.tokenCreationDate = Date(timeIntervalSince1970: 1)
        read.appAppleId = 125
        read.bundleId = "e2"
        read.tokenType = "ACQUISITION"
        read.tokenExpirationDate = Date(timeIntervalSince1970: 2)
        return read
    }

    static let appData = #"""
        {"appAppleId":126,"bundleId":"a1","environment":"Production","signedAppTransactionInfo":"a2"}
        """#

    static var appDataRead: NotificationAppData {
        var read = NotificationAppData()
        read.appAppleId = 126
        read.bundleId = "a1"
        read.environment = .production
        read.signedAppTransactionInfo = "a2"
        return read
    }

    static let appTransaction = #"""
        {"receiptType":"Production","appAppleId":127,"bundleId":"p1","applicationVersion":"p2",
        "versionExternalIdentifier":128,"receiptCreationDate":1000,"originalPurchaseDate":2000,
        "originalApplicationVersion":"p3","deviceVerification":"p4","deviceVerificationNonce":"p5","preorderDate":3000,
        "appTransactionId":"p6","originalPlatform":"visionOS"}
        """#

    static var appTransactionRead: AppTransaction {
        var read = AppTransaction()
        read.receiptType = .production
        read.appAppleId = 127
        read.bundleId = "p1"
        read.applicationVersion = "p2"
        read.versionExternalIdentifier = 128
        read.receiptCreationDate = Date(timeIntervalSince1970: 1)
        read.originalPurchaseDate = Date(timeIntervalSince1970: 2)
        read.originalApplicationVersion = "p3"
        read.deviceVerification = "p4"
        read.deviceVerificationNonce = "p5"
        read.preorderDate = Date(timeIntervalSince1970: 3)
        read.appTransactionId = "p6"
        read.originalPlatform = .visionOS
        return read
    }

    /// All four subjects at once, which no real notification has.
    static let notification =
        #"{"notificationType":"EXPIRED","subtype":"VOLUNTARY","notificationUUID":"n1","version":"2.0","signedDate":1000,"#
        + #""data":\#(data),"summary":\#(summary),"externalPurchaseToken":\#(externalPurchaseToken),"appData":\#(appData)}"#

    static var notificationRead: ResponseBodyV2DecodedPayload {
        var read = ResponseBodyV2DecodedPayload()
        read.notificationType = .expired
        read.subtype = .voluntary
        read.notificationUUID = "n1"
        read.version = "2.0"
        read.signedDate = Date(timeIntervalSince1970: 1)
        read.data = dataRead
        read.summary = summaryRead
        read.externalPurchaseToken = externalPurchaseTokenRead
        read.appData = appDataRead
        return read
    }
}
