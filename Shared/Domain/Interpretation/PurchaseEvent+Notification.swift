import AppStore
import Contracts
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

extension PurchaseEvent {
    /// Reads the event from a verified notification; nil where it is about no single purchase, such as `TEST`.
    /// - Throws: `PayloadFault` where this build cannot read a payload that the verifier passed.
    public init?(_ notification: VerifiedNotification) throws {
        self.init(notification, try DecodedNotification(decoded: notification.decoded))
    }

    /// Reads the event from a decoded payload; nil where the notification is about no single purchase.
    ///
    /// A notification without `signedDate` has the date of its transaction or renewal info, and without those the time of
    /// its arrival.
    init?(_ notification: VerifiedNotification, _ payload: DecodedNotification) {
        guard let originalTransactionId = notification.originalTransactionId else { return nil }
        // A notification's own status is signed; Apple's API returned the status of a transaction signed by itself.
        let unsigned = SignedPart(rawValue: notification.notificationType) == nil ? nil : payload.unsignedStatus
        let signedDate =
            notification.signedDate ?? payload.transaction?.signedDate ?? payload.renewalInfo?.signedDate
            ?? notification.receivedAt
        self.init(
            key: SubscriptionKey(
                environment: notification.environment, originalTransactionId: originalTransactionId),
            version: EventVersion(
                signedDate: max(signedDate, unsigned?.date ?? signedDate),
                notificationUUID: notification.notificationUUID),
            bundleId: notification.bundleId, notificationType: notification.notificationType,
            subtype: notification.subtype,
            status: ((payload.envelope.data?.status ?? unsigned?.status)?.rawValue).map { Int(clamping: $0) },
            transaction: payload.transaction.flatMap { TransactionFacts($0, signedDate: signedDate) },
            renewal: payload.renewalInfo.map { RenewalFacts($0, signedDate: signedDate) },
            consumptionRequestReason: payload.envelope.data?.consumptionRequestReason?.rawValue,
            isRefundOfItems: payload.transaction?.isRefundedByItem ?? false,
            renewalOriginalTransactionId: payload.renewalInfo?.originalTransactionId?.filled,
            unknownFields: payload.oddities.filter { $0.kind == .unknownValue }.map(\.field),
            unreadableFields: payload.oddities.filter { $0.kind == .unreadable }.map(\.field)
                + payload.unreadableTokens)
    }
}

extension TransactionFacts {
    /// Nil where the payload lacks the transaction id or product id, which every transaction of Apple has. An empty
    /// text is none: an empty id of a customer would make one customer of all who have it.
    /// - Parameter signedDate: the date of the event, for a transaction without `signedDate`.
    public init?(_ transaction: JWSTransactionDecodedPayload, signedDate: Date) {
        guard let transactionId = transaction.transactionId?.filled, let productId = transaction.productId?.filled
        else { return nil }
        self.init(
            transactionId: transactionId, productId: productId, productType: transaction.type?.rawValue ?? "",
            subscriptionGroupIdentifier: transaction.subscriptionGroupIdentifier?.filled,
            purchaseDate: transaction.purchaseDate, originalPurchaseDate: transaction.originalPurchaseDate,
            expiresDate: transaction.expiresDate, quantity: transaction.quantity.map { Int(clamping: $0) },
            appAccountToken: transaction.appAccountToken?.uuidText,
            ownership: transaction.inAppOwnershipType?.rawValue, isUpgraded: transaction.isUpgraded ?? false,
            revocationDate: transaction.revocationDate,
            revocationReason: (transaction.revocationReason?.rawValue).map { Int(clamping: $0) },
            offerType: (transaction.offerType?.rawValue).map { Int(clamping: $0) },
            offerIdentifier: transaction.offerIdentifier, priceMilliunits: transaction.price,
            currency: transaction.currency, signedDate: transaction.signedDate ?? signedDate,
            reason: transaction.transactionReason?.rawValue.filled,
            offerDiscountType: transaction.offerDiscountType?.rawValue,
            revocationType: transaction.revocationType?.rawValue,
            appTransactionId: transaction.appTransactionId?.filled,
            webOrderLineItemId: transaction.webOrderLineItemId,
            previousOriginalTransactionId: transaction.previousOriginalTransactionId?.filled,
            additionalTransactionReason: transaction.additionalTransactionReason?.rawValue.filled,
            revokedSeatQuantity: transaction.revokedSeatQuantity.map { Int(clamping: $0) },
            multiSeatInfo: transaction.multiSeatInfo?.text, revocationPercentage: transaction.refundedShare,
            itemRefunds: Self.dated(transaction.itemRefunds), storefront: transaction.storefront,
            offerPeriod: transaction.offerPeriod, billingPlanType: transaction.billingPlanType?.rawValue,
            commitmentInfo: transaction.commitmentInfo?.text)
    }

    /// All or none, because their sum is what was refunded.
    private static func dated(_ refunds: [AdvancedCommerceInfo.Refund]) -> [ItemRefund] {
        let dated = refunds.compactMap { refund in
            refund.refundDate.flatMap { date in refund.refundAmount.map { ItemRefund(date: date, amount: $0) } }
        }
        return dated.count == refunds.count ? dated : []
    }
}

extension RenewalFacts {
    /// Reads the stored fields of a renewal info.
    /// - Parameter signedDate: the date of the event, for a renewal info without `signedDate`.
    public init(_ renewal: JWSRenewalInfoDecodedPayload, signedDate: Date) {
        self.init(
            autoRenewStatus: renewal.autoRenewStatus.flatMap { $0.isKnown ? $0 == .on : nil },
            autoRenewProductId: renewal.autoRenewProductId,
            isInBillingRetry: renewal.isInBillingRetryPeriod, gracePeriodExpiresDate: renewal.gracePeriodExpiresDate,
            expirationIntent: (renewal.expirationIntent?.rawValue).map { Int(clamping: $0) },
            priceIncreaseStatus: (renewal.priceConsent?.rawValue).map { Int(clamping: $0) },
            recentSubscriptionStartDate: renewal.recentSubscriptionStartDate, renewalDate: renewal.renewalDate,
            signedDate: renewal.signedDate ?? signedDate, productId: renewal.productId?.filled,
            renewalPriceMilliunits: renewal.renewalPrice, currency: renewal.currency,
            offerType: (renewal.offerType?.rawValue).map { Int(clamping: $0) },
            offerIdentifier: renewal.offerIdentifier, appAccountToken: renewal.appAccountToken?.uuidText,
            eligibleWinBackOfferIds: renewal.eligibleWinBackOfferIds, offerPeriod: renewal.offerPeriod,
            billingPlanType: renewal.renewalBillingPlanType?.rawValue, commitmentInfo: renewal.commitmentInfo?.text)
    }
}

extension DecodedNotification {
    /// Paths of account tokens that are no UUID. Apple accepts only UUIDs, so any other token counts as missing.
    fileprivate var unreadableTokens: [String] {
        [
            ("signedTransactionInfo", transaction?.appAccountToken),
            ("signedRenewalInfo", renewalInfo?.appAccountToken),
        ].compactMap { place, token in
            token.flatMap { $0.uuidText == nil ? "\(place).appAccountToken" : nil }
        }
    }
}

extension String {
    /// Nil where it is empty, which Apple's servers write for what they do not know.
    fileprivate var filled: String? { isEmpty ? nil : self }

    /// The UUID in lower case, so that two spellings are one token; nil where the text is no UUID.
    fileprivate var uuidText: String? { UUID(uuidString: self)?.uuidString.lowercased() }
}

extension RawJSON {
    fileprivate var text: String { String(decoding: bytes, as: UTF8.self) }
}
