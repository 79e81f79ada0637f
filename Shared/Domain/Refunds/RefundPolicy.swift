import Subscriptions

import struct Foundation.Date

/// How an app answers refund requests: a list of rules, of which the first whose conditions all hold decides.
package struct RefundPolicy: Sendable, Equatable {
    /// The terms that count as consent; nil: only what the API recorded counts.
    package var consent: Consent?
    /// The percentage of requests that stay without an answer, for comparison.
    package var holdOut: Int
    /// At least one; the last one has no conditions.
    package var rules: [Rule]

    /// Accounts created since a moment agreed to it, by the terms they accepted.
    package struct Consent: Sendable, Equatable {
        /// The version of the terms, for people.
        package var terms: String
        package var acceptedSince: Date
    }

    /// Conditions and what follows from them.
    package struct Rule: Sendable, Equatable {
        /// Unique within the policy; answers and outcomes name it.
        package var name: String
        package var conditions: Conditions
        package var result: Result
    }

    /// What a rule says.
    package enum Result: Sendable, Equatable {
        /// An answer, with a preference or without. Seconds to wait for a usage report before.
        case answer(RefundPreference?, waitForUsage: Double)
        /// No answer: Apple decides alone.
        case none
    }

    /// All that are not nil have to hold. A condition on what is not known does not hold.
    package struct Conditions: Sendable, Equatable {
        package var reasons: Set<String>?
        package var products: Set<String>?
        package var productTypes: Set<String>?
        package var storefronts: Set<String>?
        /// Seconds.
        package var sincePurchase: Bounds?
        package var sinceRenewal: Bounds?
        package var accountAge: Bounds?
        package var isFirstPayment: Bool?
        package var convertedFromTrial: Bool?
        /// The most milliunits, by currency; a currency that is not listed does not hold.
        package var price: [String: Int64]?
        package var refunds: Count?
        package var refundRequests: Count?
        package var paidTransactions: Bounds?
        package var usage: Usage?
        package var deliveryStatus: Set<String>?

        package init() {}
    }

    /// Both ends count.
    package struct Bounds: Sendable, Equatable {
        package var atLeast: Double?
        package var atMost: Double?

        func contains(_ value: Double) -> Bool {
            atLeast.map { value >= $0 } ?? true && atMost.map { value <= $0 } ?? true
        }
    }

    /// How often something happened within a time before the request.
    package struct Count: Sendable, Equatable {
        /// Seconds.
        package var within: Double
        package var bounds: Bounds

        func holds(_ moments: [Date], before end: Date) -> Bool {
            bounds.contains(
                Double(moments.count { 0...within ~= end.timeIntervalSince($0) }))
        }
    }

    /// What backends reported.
    package struct Usage: Sendable, Equatable {
        /// Whether there is a report with a percentage.
        package var isReported: Bool?
        package var percentage: Bounds?

        func holds(_ report: RefundSubject.UsageReport?) -> Bool {
            let percentage = report?.percentage
            if let isReported, isReported != (percentage != nil) { return false }
            guard let bounds = self.percentage else { return true }
            return percentage.map { bounds.contains(Double($0)) } ?? false
        }
    }
}

extension RefundPolicy.Conditions {
    /// Whether all of them hold.
    package func hold(for subject: RefundSubject) -> Bool {
        func isAmong(_ values: Set<String>?, _ value: String?) -> Bool {
            values.map { values in value.map { values.contains($0) } ?? false } ?? true
        }
        func isWithin(_ bounds: RefundPolicy.Bounds?, _ value: Double?) -> Bool {
            bounds.map { bounds in value.map { bounds.contains($0) } ?? false } ?? true
        }
        let accountAge = subject.account?.createdAt.map { subject.requestedAt.timeIntervalSince($0) }
        return isAmong(reasons, subject.reason) && isAmong(products, subject.productId)
            && isAmong(productTypes, subject.productType) && isAmong(storefronts, subject.storefront)
            && isWithin(sincePurchase, subject.sincePurchase) && isWithin(sinceRenewal, subject.sinceRenewal)
            && isWithin(self.accountAge, accountAge)
            && isFirstPayment.map { $0 == subject.isFirstPayment } ?? true
            && convertedFromTrial.map { $0 == subject.isConvertedFromTrial } ?? true
            && price.map { most in
                guard let currency = subject.currency, let price = subject.priceMilliunits else { return false }
                return most[currency].map { price <= $0 } ?? false
            } ?? true
            && refunds.map { $0.holds(subject.refunds, before: subject.requestedAt) } ?? true
            && refundRequests.map { $0.holds(subject.refundRequests, before: subject.requestedAt) } ?? true
            && isWithin(paidTransactions, Double(subject.paidTransactions))
            && usage.map { $0.holds(subject.usage) } ?? true
            && isAmong(deliveryStatus, subject.usage?.deliveryStatus?.rawValue)
    }
}
