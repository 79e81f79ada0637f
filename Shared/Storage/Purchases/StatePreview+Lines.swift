import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

extension StatePreview {
    /// The lines that ``EntitlementStore`` will read of an account, and those of the purchases in the events.
    ///
    /// - Parameters:
    ///   - account: the account of the preview; nil means the owner of the purchases in the events.
    ///   - moment: periods that ended before it are left out.
    package func lines(of account: UUID?, from moment: Date) -> [EntitlementStore.Line] {
        let named = purchases.filter(\.value.isNamed).map(\.key)
        let owner = account ?? .zero
        let access = (account.map(usable(by:)) ?? named).flatMap { key in
            purchases[key].map { purchase in
                purchase.periods.filter { period in period.endsAt.map { $0 > moment } ?? true }
                    .map { purchase.line($0, owner) }
            } ?? []
        }
        // What is uploaded is in the answer.
        let reasons = account.map(self.reasons(of:)) ?? [:]
        let all = Set(Array(reasons.keys) + named).compactMap { purchases[$0]?.line(nil, owner, reasons[$0]) }
        return (access + all + given).sorted { one, other in
            let last = Date.distantFuture
            return (one.bundleId, one.id, one.startsAt ?? last) < (other.bundleId, other.id, other.startsAt ?? last)
        }
    }
}

extension StatePreview.Purchase {
    fileprivate func line(
        _ period: AccessStore.Period?, _ account: UUID, _ because: PurchaseAccount.Reason? = nil
    ) -> EntitlementStore.Line {
        let paid = transactions.first { $0.facts.transactionId == period?.transactionId }
        let deciding = period?.notificationUUID ?? paid?.version.notificationUUID
        return EntitlementStore.Line(
            source: period == nil ? .purchase : .access, account: account, bundleId: subscription.bundleId,
            id: subscription.key.originalTransactionId, productId: period?.productId, startsAt: period?.startsAt,
            endsAt: period?.endsAt, until: period?.until, reason: period?.reason ?? because?.rawValue,
            transactionId: period?.transactionId,
            subscriptionGroupId: paid?.facts.subscriptionGroupIdentifier
                ?? subscription.transaction?.subscriptionGroupIdentifier,
            ownership: paid?.facts.ownership ?? subscription.transaction?.ownership,
            isAutoRenewing: subscription.renewal?.autoRenewStatus, notificationUUID: deciding,
            signedAt: deciding.flatMap(signedDate) ?? paid?.version.signedDate, revision: revision)
    }

    /// The signed date of a notification that decided a period.
    private func signedDate(of notification: UUID) -> Date? {
        ([
            subscription.statusVersion, subscription.renewalVersion, subscription.transactionVersion,
            subscription.version,
        ].compactMap { $0 } + transactions.map(\.version)).first { $0.notificationUUID == notification }?.signedDate
    }
}
