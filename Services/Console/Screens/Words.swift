import Contracts
import Operations
import Storage
import Subscriptions

import struct Foundation.Date

/// What is shown in words rather than in names of fields.
enum Words {
    /// Access now: what, until when, why.
    static func access(_ view: PurchaseView) -> String {
        let now = view.moment
        if let period = view.current {
            let end =
                period.until.map { end in
                    let moment = Moment(end, now: now)
                    return " until \(moment.text) (\(moment.distance))"
                } ?? " without an end"
            return "Access to \(period.productId)\(end), because \(reason(period.reason))."
        }
        let ended = view.periods.compactMap(\.endsAt).filter { $0 <= now }.max()
        let since = ended.map { end in
            let moment = Moment(end, now: now)
            return "No access since \(moment.text) (\(moment.distance))"
        }
        return "\(since ?? "No access"): \(explanation(of: view.state, view.subscription))."
    }

    /// Why a line of an account gives access.
    static func reason(_ line: EntitlementStore.Line) -> String {
        line.source == .app ? "the app itself was bought in an early version" : reason(line.reason ?? "")
    }

    /// Why a period gives access.
    static func reason(_ reason: String) -> String {
        switch AccessPeriod.Reason(rawValue: reason) {
        case .transaction: "a transaction paid for this time"
        case .gracePeriod: "the charge failed and Apple's grace period runs"
        case .status: "Apple's status says so, although the transaction is not known yet"
        case .nonConsumable: "it was bought once and is kept"
        case .nonRenewing: "it was bought for a fixed time"
        case .durationUnknown: "it was bought for a time that is not configured: set the duration of its product"
        case nil: reason == "manualGrant" ? "it was granted by hand" : reason
        }
    }

    /// Why a purchase gives no access.
    private static func explanation(of state: SubscriptionState, _ subscription: Subscription) -> String {
        switch state {
        case .active, .gracePeriod, .owned: "the state is \(Self.state(state))"
        case .billingRetry: "the charge failed, and Apple still tries"
        case .overdue: "a renewal was due, and no notification has told its outcome yet"
        case .notBegun: "its first period begins later"
        case .expired: expiry(subscription)
        case .revoked: revocation(subscription)
        case .upgraded: "another purchase replaced it, which is not known yet"
        case .consumed: "a consumable gives no access; what it gave is a credit"
        case .unknown: "no transaction is known that would tell"
        }
    }

    private static func expiry(_ subscription: Subscription) -> String {
        switch subscription.renewal?.expirationIntent {
        case 1: "it expired because the customer had switched auto-renew off"
        case 2: "it expired because the charge failed for good"
        case 3: "it expired because the customer did not agree to the new price"
        case 4: "it expired because the product was no longer sold"
        default:
            subscription.renewal?.autoRenewStatus == false
                ? "it expired, and auto-renew is off" : "it expired"
        }
    }

    private static func revocation(_ subscription: Subscription) -> String {
        guard let transaction = subscription.transaction, transaction.revocationType != "FAMILY_REVOKE" else {
            return "the family no longer shares it"
        }
        return transaction.revocationReason == 1
            ? "Apple refunded it because of an issue with the app" : "Apple refunded or revoked it"
    }

    /// `active` and its like.
    static func state(_ state: SubscriptionState) -> String {
        switch state {
        case .gracePeriod: "grace period"
        case .billingRetry: "billing retry"
        case .notBegun: "not begun yet"
        default: state.rawValue
        }
    }

    /// Why a purchase gives an account no access.
    static func withheld(_ reason: WithheldReason) -> String {
        switch reason {
        case .state(let state): Self.state(state)
        case .notFound: "no notification about it is known"
        case .refused: "several accounts claim it, and the policy of the app gives it to none of them: choose one"
        case .oldCopy: "the account sent an old copy, and another account is entitled to it"
        case .otherAccount: "another account is entitled to it"
        case .notClaimed: "the account sent an id alone, which claims nothing"
        case .tooManyTransfers: "another account is entitled to it, and restores have moved it too often"
        case .tooManyAccounts: "as many other accounts as may claim it have sent evidence that is as strong"
        }
    }

    /// Apple's status of a subscription, a number.
    static func status(_ status: Int) -> String {
        switch status {
        case 1: "active"
        case 2: "expired"
        case 3: "billing retry"
        case 4: "grace period"
        case 5: "revoked"
        default: "\(status)"
        }
    }

    /// Apple's `inAppOwnershipType`; one that is not known by its name.
    static func ownership(_ ownership: String) -> String {
        switch ownership {
        case "PURCHASED": "bought by the customer"
        case "FAMILY_SHARED": "shared by the family"
        case "ASSIGNED": "an assigned seat"
        default: ownership
        }
    }

    /// The offer of a transaction; nil without one. An introductory offer has no id.
    static func offer(_ transaction: TransactionFacts) -> String? {
        guard transaction.offerType != nil || transaction.offerIdentifier != nil else { return nil }
        let kind =
            switch transaction.offerType {
            case 1: "introductory"
            case 2: "promotional"
            case 3: "offer code"
            case 4: "win-back"
            default: "of a kind not known here"
            }
        return kind + (transaction.offerIdentifier.map { ": \($0)" } ?? "")
            + (transaction.offerDiscountType == "FREE_TRIAL" ? ", free trial" : "")
    }

    /// An event of the timeline.
    static func event(_ event: String) -> String {
        event.split(separator: "/").map { part in
            part.split(separator: "_").joined(separator: " ").lowercased()
        }.joined(separator: ": ")
    }

    /// A change of the timeline, in the command line's words.
    /// - Parameter isMasked: leaves its values out: those of facts such as the app account are ids.
    static func change(_ change: FactChange, isMasked: Bool) -> String {
        guard !isMasked else {
            if change.fact == FactChange.refundRequest { return "a refund" }
            return "\(Fact(rawValue: change.fact)?.words ?? "access or an earlier transaction")"
        }
        return Change.sentence(
            fact: change.fact, from: change.from, to: change.to, transactionId: change.transactionId)
    }
}
