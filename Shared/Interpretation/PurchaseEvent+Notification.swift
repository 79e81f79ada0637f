import AppStore
import Contracts
import Storage
import Subscriptions

import struct Foundation.Date

extension LedgerEntry {
    /// From what we say to each other to what the ledger keeps and the state learns.
    /// - Throws: `PayloadFault` where this build cannot read what the verifier passed.
    public init(_ notification: VerifiedNotification, position: LogPosition) throws {
        let payload = try DecodedNotification(decoded: notification.decoded)
        self.init(notification, news: PurchaseEvent(notification, payload), position: position)
    }

    private init(_ notification: VerifiedNotification, news: PurchaseEvent?, position: LogPosition) {
        self.init(
            notificationUUID: notification.notificationUUID, notificationType: notification.notificationType,
            subtype: notification.subtype, environment: notification.environment, bundleId: notification.bundleId,
            appAppleId: notification.appAppleId, originalTransactionId: notification.originalTransactionId,
            transactionId: notification.transactionId, signedDate: notification.signedDate,
            receivedAt: notification.receivedAt, source: notification.source,
            decodedPayload: String(decoding: notification.decoded, as: UTF8.self),
            signedPayload: notification.signedPayload, news: news, position: position)
    }
}

extension PurchaseEvent {
    /// From Apple's words to what we believe; nil where the notification is about no single purchase.
    ///
    /// What has no date of its own is as old as the part that has one, and as old as its arrival where none has.
    init?(_ notification: VerifiedNotification, _ payload: DecodedNotification) {
        guard let originalTransactionId = notification.originalTransactionId else { return nil }
        let signedDate =
            notification.signedDate ?? payload.transaction?.signedDate ?? payload.renewalInfo?.signedDate
            ?? notification.receivedAt
        self.init(
            key: SubscriptionKey(
                environment: notification.environment, originalTransactionId: originalTransactionId),
            version: EventVersion(signedDate: signedDate, notificationUUID: notification.notificationUUID),
            bundleId: notification.bundleId, notificationType: notification.notificationType,
            subtype: notification.subtype,
            status: (payload.envelope.data?.status?.rawValue).map { Int(clamping: $0) },
            transaction: payload.transaction.flatMap { TransactionFacts($0, signedDate: signedDate) },
            renewal: payload.renewalInfo.map { RenewalFacts($0, signedDate: signedDate) },
            consumptionRequestReason: payload.envelope.data?.consumptionRequestReason?.rawValue,
            renewalOriginalTransactionId: payload.renewalInfo?.originalTransactionId,
            unknownFields: payload.oddities.filter { $0.kind == .unknownValue }.map(\.field),
            unreadableFields: payload.oddities.filter { $0.kind == .unreadable }.map(\.field))
    }
}

extension TransactionFacts {
    /// Nil where Apple left out what every transaction has: the facts of such a one are not to be believed.
    /// - Parameter signedDate: of the news, where the transaction has none of its own.
    public init?(_ transaction: JWSTransactionDecodedPayload, signedDate: Date) {
        guard let transactionId = transaction.transactionId, let productId = transaction.productId else { return nil }
        self.init(
            transactionId: transactionId, productId: productId, productType: transaction.type?.rawValue ?? "",
            subscriptionGroupIdentifier: transaction.subscriptionGroupIdentifier,
            purchaseDate: transaction.purchaseDate, originalPurchaseDate: transaction.originalPurchaseDate,
            expiresDate: transaction.expiresDate, quantity: transaction.quantity.map { Int(clamping: $0) },
            appAccountToken: transaction.appAccountToken?.lowercased(),
            ownership: transaction.inAppOwnershipType?.rawValue, isUpgraded: transaction.isUpgraded ?? false,
            revocationDate: transaction.revocationDate,
            revocationReason: (transaction.revocationReason?.rawValue).map { Int(clamping: $0) },
            offerType: (transaction.offerType?.rawValue).map { Int(clamping: $0) },
            offerIdentifier: transaction.offerIdentifier, priceMilliunits: transaction.price,
            currency: transaction.currency, signedDate: transaction.signedDate ?? signedDate,
            reason: transaction.transactionReason?.rawValue, offerDiscountType: transaction.offerDiscountType?.rawValue,
            revocationType: transaction.revocationType?.rawValue, appTransactionId: transaction.appTransactionId,
            webOrderLineItemId: transaction.webOrderLineItemId,
            previousOriginalTransactionId: transaction.previousOriginalTransactionId)
    }
}

extension RenewalFacts {
    /// From Apple's words to what we believe.
    /// - Parameter signedDate: of the news, where the renewal info has none of its own.
    public init(_ renewal: JWSRenewalInfoDecodedPayload, signedDate: Date) {
        self.init(
            autoRenewStatus: renewal.autoRenewStatus.flatMap { $0.isKnown ? $0 == .on : nil },
            autoRenewProductId: renewal.autoRenewProductId,
            isInBillingRetry: renewal.isInBillingRetryPeriod, gracePeriodExpiresDate: renewal.gracePeriodExpiresDate,
            expirationIntent: (renewal.expirationIntent?.rawValue).map { Int(clamping: $0) },
            priceIncreaseStatus: (renewal.priceIncreaseStatus?.rawValue).map { Int(clamping: $0) },
            recentSubscriptionStartDate: renewal.recentSubscriptionStartDate, renewalDate: renewal.renewalDate,
            signedDate: renewal.signedDate ?? signedDate, productId: renewal.productId,
            renewalPriceMilliunits: renewal.renewalPrice, currency: renewal.currency,
            offerType: (renewal.offerType?.rawValue).map { Int(clamping: $0) },
            offerIdentifier: renewal.offerIdentifier)
    }
}
