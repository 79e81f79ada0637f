import struct Foundation.Date

/// The offers of an app that are signed, and for whom. An offer without a rule is not signed.
package struct OfferRules: Sendable, Equatable {
    /// At most one for each product and offer.
    package var rules: [OfferRule]

    /// The rule of an offer.
    package func rule(of productId: String, _ offerIdentifier: String) -> OfferRule? {
        rules.first { $0.productId == productId && $0.offerIdentifier == offerIdentifier }
    }
}

/// Who gets one offer of a product, how often, and when.
package struct OfferRule: Sendable, Equatable {
    package var productId: String
    /// As in App Store Connect.
    package var offerIdentifier: String
    /// The subscriptions that `active`, `autoRenewOff` and `lapsed` look at; nil: those of all groups of the app.
    package var subscriptionGroupIdentifier: String?
    /// One of them is enough.
    package var who: Set<Who>
    /// For `lapsed`: how many days ago the last subscription ended, at least.
    package var lapsedDays: Int64 = 0
    /// A refund within so many days excludes the customer; nil: refunds do not count.
    package var noRefundDays: Int64?
    package var atMost: Limit
    /// The first moment at which the offer is signed.
    package var from: Date?
    /// The first moment at which it is not signed any more.
    package var until: Date?

    /// What a customer is to the app.
    package enum Who: String, Sendable, CaseIterable {
        /// Never paid for anything in the app; a free trial is no payment.
        case neverPaid
        /// Has a subscription that gives access, in a grace period too.
        case active
        /// The same, and it will not renew.
        case autoRenewOff
        /// Had a subscription, and all have ended; one whose charge Apple retries has not.
        case lapsed
    }

    /// How many signatures one customer gets within a time.
    package struct Limit: Sendable, Equatable {
        package var count: Int64
        package var days: Int64

        package init(count: Int64, days: Int64) {
            self.count = count
            self.days = days
        }
    }
}

/// What is known of the customer who is to get an offer, from all purchases of the account and of its Apple account.
package struct OfferCustomer: Sendable, Equatable {
    package var hasPaid = false
    package var subscriptions: [Subscription] = []
    /// When Apple refunded something.
    package var refunds: [Date] = []

    package init() {}

    /// A subscription that the customer bought; what a family shares is another customer's.
    package struct Subscription: Sendable, Equatable {
        package var group: String?
        package var standing: Standing

        package init(group: String?, standing: Standing) {
            self.group = group
            self.standing = standing
        }
    }

    /// How a subscription is at the moment of the decision.
    package enum Standing: Sendable, Equatable {
        case active(renews: Bool)
        case ended(at: Date)
        /// Its charge is retried, or the outcome of a renewal is not known yet.
        case undecided
    }
}

/// Why an offer is not signed.
package enum OfferRefusal: Sendable, Equatable, CustomStringConvertible {
    case noRule(productId: String, offerIdentifier: String)
    case noAccount
    /// The transaction or appTransactionId of the request is another customer's, as far as is known.
    case otherCustomer(String)
    case notBegun(Date)
    case ended(Date)
    case notAmong(Set<OfferRule.Who>)
    case lapsedTooRecently(at: Date, days: Int64)
    case refunded(at: Date, days: Int64)
    case signedTooOften(OfferRule.Limit)

    /// For programs; the sentence is for people.
    package var reason: String {
        switch self {
        case .noRule: "noRule"
        case .noAccount: "noAccount"
        case .otherCustomer: "otherCustomer"
        case .notBegun: "notBegun"
        case .ended: "ended"
        case .notAmong: "notAmong"
        case .lapsedTooRecently: "lapsedTooRecently"
        case .refunded: "refunded"
        case .signedTooOften: "signedTooOften"
        }
    }

    package var description: String {
        switch self {
        case .noRule(let product, let offer):
            "No rule allows the offer \(offer) of \(product); add one with storekeeper offers rules set."
        case .noAccount: "The request names no appAccountToken, and the rule decides by customer."
        case .otherCustomer(let id):
            "\(id) is of a purchase that is not the account's; upload it for the account first."
        case .notBegun(let date): "The rule begins at \(date.ISO8601Format())."
        case .ended(let date): "The rule ended at \(date.ISO8601Format())."
        case .notAmong(let who):
            "The rule is for customers who are \(who.map(\.rawValue).sorted().joined(separator: " or ")); this one is not."
        case .lapsedTooRecently(let date, let days):
            "The customer's last subscription ended at \(date.ISO8601Format()), and the rule asks for \(days) days since."
        case .refunded(let date, let days):
            "Apple refunded the customer at \(date.ISO8601Format()), within \(days) days."
        case .signedTooOften(let limit):
            "The offer was signed \(limit.count) times for the customer within \(limit.days) days, as often as the rule allows."
        }
    }
}

extension OfferRule {
    private static let day = 86_400.0

    /// Why the customer does not get the offer, whatever was signed before; nil where nothing is against it.
    package func refusal(of customer: OfferCustomer, at now: Date) -> OfferRefusal? {
        if let from, now < from { return .notBegun(from) }
        if let until, now >= until { return .ended(until) }
        if let noRefundDays,
            let latest = customer.refunds.max(), now.timeIntervalSince(latest) < Double(noRefundDays) * Self.day
        {
            return .refunded(at: latest, days: noRefundDays)
        }
        let standings = customer.subscriptions.filter {
            subscriptionGroupIdentifier == nil || $0.group == subscriptionGroupIdentifier
        }.map(\.standing)
        if who.contains(.neverPaid), !customer.hasPaid { return nil }
        if who.contains(.active), standings.contains(where: \.isActive) { return nil }
        if who.contains(.autoRenewOff), standings.contains(.active(renews: false)) { return nil }
        guard who.contains(.lapsed), let end = Self.end(standings), end <= now else { return .notAmong(who) }
        guard now.timeIntervalSince(end) >= Double(lapsedDays) * Self.day else {
            return .lapsedTooRecently(at: end, days: lapsedDays)
        }
        return nil
    }

    /// When the last of the subscriptions ended; nil where there is none, or one has not ended.
    private static func end(_ standings: [OfferCustomer.Standing]) -> Date? {
        let ends = standings.compactMap(\.end)
        return ends.count == standings.count ? ends.max() : nil
    }

    /// Whether one more signature is too many.
    /// - Parameter signed: when the offer was signed for the customer before.
    package func refusal(after signed: [Date], at now: Date) -> OfferRefusal? {
        // A clock that is behind that of the instance that signed before must not let one more through.
        let counted = signed.count { now.timeIntervalSince($0) < Double(atMost.days) * Self.day }
        return counted >= atMost.count ? .signedTooOften(atMost) : nil
    }
}

extension OfferCustomer.Standing {
    fileprivate var isActive: Bool { if case .active = self { true } else { false } }

    fileprivate var end: Date? { if case .ended(let date) = self { date } else { nil } }
}
