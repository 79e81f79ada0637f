import Contracts

import struct Foundation.Date
import struct Foundation.TimeInterval

/// What a subscription cost at first, costs now and will cost next. Without a price increase a subscriber stays at the price of the
/// first purchase, whatever new customers pay.
public struct PurchasePrices: Sendable, Equatable {
    /// One price, in thousandths of a unit of its currency.
    public struct Price: Sendable, Equatable {
        /// The price of a period.
        public var milliunits: Int64
        /// ISO 4217; nil where Apple did not say.
        public var currency: String?
        /// When it is or was paid first; nil where Apple did not say.
        public var since: Date?
        /// For one month, where the period is another.
        public var monthly: Int64?
    }

    /// Of the first transaction without an offer.
    public let first: Price?
    /// Of the current transaction.
    public let current: Price?
    /// Of the next period, by the renewal info.
    public let next: Price?

    /// - Parameter transactions: all of the purchase, in any order.
    package init(_ subscription: Subscription, _ transactions: [TransactionFacts]) {
        let environment = subscription.key.environment
        let oldest = transactions.filter { $0.offerType == nil && $0.priceMilliunits != nil }
            .min { ($0.purchaseDate ?? .distantFuture) < ($1.purchaseDate ?? .distantFuture) }
        first = oldest.flatMap { Self.price(of: $0, environment) }
        current = subscription.transaction.flatMap { Self.price(of: $0, environment) }
        let renewal = subscription.renewal
        let length = Self.length(subscription.transaction)
        next = renewal?.renewalPriceMilliunits.map { milliunits in
            let isOfProduct =
                renewal?.autoRenewProductId == nil || renewal?.autoRenewProductId == subscription.transaction?.productId
            return Price(
                milliunits: milliunits, currency: renewal?.currency, since: renewal?.renewalDate,
                monthly: isOfProduct ? length.flatMap { Self.monthly(milliunits, of: $0, in: environment) } : nil)
        }
    }

    private static func price(of facts: TransactionFacts, _ environment: StoreEnvironment) -> Price? {
        facts.priceMilliunits.map { milliunits in
            Price(
                milliunits: milliunits, currency: facts.currency, since: facts.purchaseDate,
                monthly: length(facts).flatMap { monthly(milliunits, of: $0, in: environment) })
        }
    }

    private static func length(_ facts: TransactionFacts?) -> TimeInterval? {
        guard let start = facts?.purchaseDate, let end = facts?.expiresDate, start < end else { return nil }
        return end.timeIntervalSince(start)
    }

    /// The price of one month in thousandths, rounded; nil where the period is a month, or shorter than any of Apple's: the
    /// simulator cuts one short by command, and its length does not say what the price is for.
    /// - Parameter seconds: from purchase to expiry.
    package static func monthly(
        _ milliunits: Int64, of seconds: TimeInterval, in environment: StoreEnvironment
    ) -> Int64? {
        guard seconds >= (environment == .production ? 2 * BillingRules.day : 150) else { return nil }
        let period = BillingPeriod(fitting: seconds, in: environment)
        return period == .month ? nil : period.monthly(milliunits).amount
    }
}

extension PurchasePrices {
    /// `first 9.990 EUR from …; now …; next …`; nil where no price is known.
    public var text: String? {
        let parts = [("first", first), ("now", current), ("next", next)].compactMap { name, price in
            price.map { "\(name) \($0.text)" }
        }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }
}

extension PurchasePrices.Price {
    /// `79.990 EUR from 2026-01-01T00:00:00.000Z, 6.666 a month`.
    public var text: String {
        Commitment.money(milliunits, currency) + (since.map { " from \($0.iso8601)" } ?? "")
            + (monthly.map { ", \(Commitment.money($0, nil)) a month" } ?? "")
    }
}
