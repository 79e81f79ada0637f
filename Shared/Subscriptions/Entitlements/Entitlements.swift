import struct Foundation.Date

/// What a customer may use: StoreKit's `currentEntitlements`, from what is stored and a clock.
public struct Entitlements: Sendable, Equatable {
    /// Every purchase with what it gives or why it gives nothing, sorted by key.
    public let decisions: [EntitlementDecision]

    /// - Parameters:
    ///   - purchases: all purchases of one customer, each once, in any order.
    ///   - levels: of the products.
    ///   - durations: of non-renewing products, by product id.
    ///   - now: the moment that is asked about, past or future.
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

    /// What is listed as the customer's, which includes a non-renewing subscription that has ended.
    public var granted: [EntitlementDecision] { decisions.filter(\.status.isEntitlement) }

    /// Whether the customer may use a product.
    public func giveAccess(to productId: String) -> Bool {
        decisions.contains { $0.status.givesAccess && $0.productId == productId }
    }
}
