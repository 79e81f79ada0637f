import AppStore
import Contracts
import Digests
import Signatures
import StrictJSON

import struct Foundation.UUID

/// Builds Apple's payloads of an event.
enum PayloadBuilder {
    static func transaction(_ purchase: Purchase, in event: EventPayload) -> JWSTransactionDecodedPayload {
        var payload = JWSTransactionDecodedPayload()
        payload.originalTransactionId = purchase.originalTransactionId
        payload.transactionId = purchase.transactionId
        payload.webOrderLineItemId = purchase.webOrderLineItemId
        payload.bundleId = event.app.bundleId
        payload.productId = purchase.product.id(in: event.app.bundleId)
        payload.purchaseDate = purchase.purchaseDate
        payload.originalPurchaseDate = purchase.originalPurchaseDate
        payload.expiresDate = purchase.expiresDate
        payload.quantity = purchase.quantity
        payload.type = purchase.product.kind.type
        payload.subscriptionGroupIdentifier = purchase.product.group
        if purchase.isUpgraded { payload.isUpgraded = true }
        payload.appAccountToken = event.customer?.appAccountToken?.uuidString.lowercased()
        payload.inAppOwnershipType = event.customer?.ownership.type ?? .purchased
        payload.signedDate = event.signedDate
        if let revocation = purchase.revocation {
            payload.revocationDate = revocation.date
            payload.revocationReason = RevocationReason(rawValue: Int64(revocation.reason))
            // The refunds of Advanced Commerce are those of its items.
            if purchase.commerce == nil || !revocation.isRefund {
                payload.revocationType = revocation.type
                payload.revocationPercentage = revocation.percentage
            }
        }
        payload.environment = environment(of: event)
        payload.transactionReason = purchase.reason == .purchase ? .purchase : .renewal
        payload.storefront = event.customer?.storefront.country
        payload.storefrontId = event.customer?.storefront.id
        payload.currency = event.customer?.storefront.currency
        payload.price = purchase.price
        payload.appTransactionId = event.customer?.appTransactionId
        if let offer = purchase.offer {
            payload.offerType = offer.type
            payload.offerIdentifier = offer.identifier
            payload.offerDiscountType = offer.discountType
            payload.offerPeriod = (offer.period ?? purchase.product.period)?.rawValue
        }
        if let commitment = purchase.commitment {
            payload.billingPlanType = .monthly
            payload.commitmentInfo = commitmentInfo(commitment, of: purchase.product)
        }
        if purchase.product.seats != nil { payload.multiSeatInfo = multiSeatInfo(of: purchase, in: event) }
        if purchase.sharesPeriod { payload.additionalTransactionReason = .seatAddition }
        payload.advancedCommerceInfo = commerceInfo(of: purchase)
        return payload
    }

    static func renewal(_ renewal: Renewal, of purchase: Purchase, in event: EventPayload)
        -> JWSRenewalInfoDecodedPayload
    {
        var payload = JWSRenewalInfoDecodedPayload()
        payload.originalTransactionId = purchase.originalTransactionId
        payload.productId = renewal.product.id(in: event.app.bundleId)
        payload.autoRenewProductId = renewal.nextProduct.id(in: event.app.bundleId)
        payload.autoRenewStatus = renewal.willRenew ? .on : .off
        payload.renewalDate = renewal.date
        if renewal.willRenew {
            payload.renewalPrice =
                renewal.nextOffer?.price(of: renewal.nextProduct) ?? renewal.nextPrice ?? renewal.nextProduct.price
        }
        payload.currency = event.customer?.storefront.currency
        payload.isInBillingRetryPeriod = renewal.spokenBillingRetry
        payload.gracePeriodExpiresDate = renewal.graceExpiresDate
        payload.expirationIntent = renewal.expirationIntent.map { ExpirationIntent(rawValue: Int64($0)) }
        payload.priceIncreaseStatus = renewal.priceIncreaseStatus.map { PriceIncreaseStatus(rawValue: $0) }
        payload.signedDate = event.signedDate
        payload.environment = environment(of: event)
        payload.recentSubscriptionStartDate = renewal.recentStartDate
        payload.appAccountToken = event.customer?.appAccountToken?.uuidString.lowercased()
        payload.appTransactionId = event.customer?.appTransactionId
        if let offer = renewal.nextOffer {
            payload.offerType = offer.type
            payload.offerIdentifier = offer.identifier
            payload.offerDiscountType = offer.discountType
            payload.offerPeriod = (offer.period ?? renewal.nextProduct.period)?.rawValue
        }
        if !renewal.winBackOffers.isEmpty { payload.eligibleWinBackOfferIds = renewal.winBackOffers }
        if renewal.nextProduct.hasCommitment { payload.renewalBillingPlanType = .monthly }
        if let willRenew = renewal.commitmentWillRenew {
            payload.commitmentInfo = commitmentInfo(willRenew, of: renewal, purchase, in: event)
        }
        payload.advancedCommerceInfo = commerceInfo(of: renewal, of: purchase)
        return payload
    }

    static func notification(
        _ event: EventPayload, signedTransactionInfo: [UInt8]?, signedRenewalInfo: [UInt8]?,
        signedAppTransactionInfo: [UInt8]? = nil
    ) -> ResponseBodyV2DecodedPayload {
        var payload = ResponseBodyV2DecodedPayload()
        payload.notificationType = event.kind.type
        payload.subtype = event.kind.subtype
        payload.notificationUUID = event.uuid.uuidString.lowercased()
        // Exactly one of them.
        switch event.object {
        case .data:
            payload.data = data(
                of: event, signedTransactionInfo: signedTransactionInfo, signedRenewalInfo: signedRenewalInfo)
        case .summary(let summary): payload.summary = summary
        case .externalPurchaseToken(let token): payload.externalPurchaseToken = token
        case .appData: payload.appData = appData(of: event, signedAppTransactionInfo)
        case .other: break
        }
        payload.version = "2.0"
        payload.signedDate = event.signedDate
        return payload
    }

    private static func data(
        of event: EventPayload, signedTransactionInfo: [UInt8]?, signedRenewalInfo: [UInt8]?
    ) -> NotificationData {
        var data = NotificationData()
        data.environment = environment(of: event)
        // Apple's number exists in production only.
        if event.app.environment == .production { data.appAppleId = event.app.appAppleId }
        data.bundleId = event.app.bundleId
        data.bundleVersion = "241"
        data.signedTransactionInfo = signedTransactionInfo.map { String(decoding: $0, as: UTF8.self) }
        data.signedRenewalInfo = signedRenewalInfo.map { String(decoding: $0, as: UTF8.self) }
        data.status = event.status.map { SubscriptionStatus(rawValue: Int64($0)) }
        if event.kind.type == .consumptionRequest { data.consumptionRequestReason = .unintendedPurchase }
        return data
    }

    private static func appData(of event: EventPayload, _ signedAppTransactionInfo: [UInt8]?) -> NotificationAppData {
        var data = NotificationAppData()
        if event.app.environment == .production { data.appAppleId = event.app.appAppleId }
        data.bundleId = event.app.bundleId
        data.environment = environment(of: event)
        data.signedAppTransactionInfo = signedAppTransactionInfo.map { String(decoding: $0, as: UTF8.self) }
        return data
    }

    /// A notification whose only object is one that clients may not know; it is genuine all the same.
    static func adding(object name: String, members: String, to json: [UInt8], of event: EventPayload) -> [UInt8] {
        var number = ""
        if event.app.environment == .production { number = #","appAppleId":\#(event.app.appAppleId)"# }
        let object =
            #","\#(name)":{"environment":"\#(event.app.environment.rawValue)"\#(number)"#
            + #","bundleId":"\#(event.app.bundleId)",\#(members)}}"#
        return json.dropLast() + Array(object.utf8)
    }

    /// The app transaction: how the app was installed.
    static func appTransaction(of event: EventPayload) -> AppTransaction {
        var payload = AppTransaction()
        payload.receiptType = environment(of: event)
        if event.app.environment == .production { payload.appAppleId = event.app.appAppleId }
        payload.bundleId = event.app.bundleId
        payload.applicationVersion = "241"
        payload.receiptCreationDate = event.signedDate
        payload.originalPurchaseDate = event.purchase?.originalPurchaseDate ?? event.signedDate
        payload.originalApplicationVersion = "1"
        payload.preorderDate = event.customer?.preorderDate
        payload.appTransactionId = event.customer?.appTransactionId
        payload.originalPlatform = .iOS
        return payload
    }

    /// What StoreKit hands over on a device: with the mark by which another device knows it for a copy.
    static func marked(_ json: [UInt8], for device: UUID, nonce: UUID = UUID()) -> [UInt8] {
        let nonce = nonce.uuidString.lowercased()
        let digest = SHA384Hash.digest(Array((nonce + device.uuidString.lowercased()).utf8))
        let mark = String(decoding: Base64.encode(digest, .standard), as: UTF8.self)
        let members = #","deviceVerification":"\#(mark)","deviceVerificationNonce":"\#(nonce)"}"#
        return json.dropLast() + Array(members.utf8)
    }

    private static func multiSeatInfo(of purchase: Purchase, in event: EventPayload) -> RawJSON {
        let management = event.customer?.ownership == .assigned ? "APPLE" : "DEVELOPER"
        let revoked = purchase.revokedSeats > 0 ? #","revokedSeatQuantity":\#(purchase.revokedSeats)"# : ""
        let tiers = #"[{"price":\#(purchase.price),"quantity":\#(purchase.quantity)}]"#
        return RawJSON(Array(#"{"invitationManagement":"\#(management)","priceTiers":\#(tiers)\#(revoked)}"#.utf8))
    }

    private static func commitmentInfo(_ commitment: Purchase.Commitment, of product: Product) -> RawJSON {
        RawJSON(
            Array(
                """
                {"billingPeriodNumber":\(commitment.number),"totalBillingPeriods":\(Purchase.Commitment.payments),\
                "commitmentExpiresDate":\(commitment.expiresDate.milliseconds),\
                "commitmentPrice":\(product.price * Int64(Purchase.Commitment.payments))}
                """.utf8))
    }

    private static func commitmentInfo(
        _ willRenew: Bool, of renewal: Renewal, _ purchase: Purchase, in event: EventPayload
    ) -> RawJSON {
        let date = purchase.commitment.map { #","commitmentRenewalDate":\#($0.expiresDate.milliseconds)"# } ?? ""
        let next = renewal.nextProduct
        return RawJSON(
            Array(
                """
                {"commitmentAutoRenewProductId":"\(next.id(in: event.app.bundleId))",\
                "commitmentAutoRenewStatus":\(willRenew ? 1 : 0),\
                "commitmentRenewalBillingPlanType":"\(next.hasCommitment ? "MONTHLY" : "BILLED_UPFRONT")",\
                "commitmentRenewalPrice":\(renewal.nextPrice ?? next.price)\(date)}
                """.utf8))
    }

    private static func environment(of event: EventPayload) -> AppStoreEnvironment {
        AppStoreEnvironment(rawValue: event.app.environment.rawValue)
    }
}

extension Product.Kind {
    /// Apple's product type.
    var type: TransactionType {
        switch self {
        case .autoRenewable: .autoRenewableSubscription
        case .nonRenewing: .nonRenewingSubscription
        case .nonConsumable: .nonConsumable
        case .consumable: .consumable
        case .unknown: TransactionType(rawValue: "Subscription Bundle")
        }
    }
}

extension Renewal {
    /// Apple mentions billing retry only where payment failed or the subscription ended.
    var spokenBillingRetry: Bool? { isInBillingRetry || expirationIntent != nil ? isInBillingRetry : nil }
}
