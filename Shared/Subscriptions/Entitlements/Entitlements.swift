import struct Foundation.Date

/// A customer's entitlements by the stored purchases and a clock, as StoreKit's `currentEntitlements` computes them.
///
/// [currentEntitlements](https://developer.apple.com/documentation/storekit/transaction/currententitlements)
public struct Entitlements: Sendable, Equatable {
    /// The decision about every purchase, sorted by key.
    public let decisions: [EntitlementDecision]

    /// - Parameters:
    ///   - purchases: all purchases of one customer, each once, in any order.
    ///   - levels: the service levels of the products.
    ///   - durations: the configured durations of non-renewing products, by product id.
    ///   - now: the moment to answer for, past or future.
    public init(
        of purchases: [PurchaseSnapshot], levels: ServiceLevels, durations: [String: ProductDuration] = [:],
        at now: Date
    ) {
        var decisions = purchases.map { $0.decision(levels: levels, durations: durations, at: now) }
            .sorted { $0.key < $1.key }
        let ranked = decisions.indices.filter { decisions[$0].status.isEntitlement && decisions[$0].scope != nil }
            .sorted { decisions[$0].isBetter(than: decisions[$1]) }
        var winners: [Int] = []
        for index in ranked {
            guard winners.contains(where: { decisions[$0].competes(with: decisions[index]) }) else {
                winners.append(index)
                continue
            }
            decisions[index].status = decisions[index].transaction?.kind == .autoRenewable ? .outranked : .superseded
            decisions[index].until = nil
        }
        self.decisions = decisions
    }

    /// The customer's entitlements, including non-renewing subscriptions that have ended.
    public var granted: [EntitlementDecision] { decisions.filter(\.status.isEntitlement) }

    /// Whether the customer may use a product at the moment.
    public func giveAccess(to productId: String) -> Bool {
        decisions.contains { $0.status.givesAccess && $0.productId == productId }
    }
}
