import struct Foundation.Date

/// What a customer may use: StoreKit's `currentEntitlements`, from what is stored and a clock.
public struct Entitlements: Sendable, Equatable {
    /// Every purchase with what it gives or why it gives nothing, sorted by key.
    public let decisions: [EntitlementDecision]

    /// - Parameters:
    ///   - purchases: all purchases of one customer, each once, in any order.
    ///   - levels: of the products.
    ///   - now: the clock.
    public init(of purchases: [PurchaseSnapshot], levels: ServiceLevels, at now: Date) {
        var decisions = purchases.map { $0.decision(levels: levels, at: now) }.sorted { $0.key < $1.key }
        var best: [EntitlementDecision.Scope: Int] = [:]
        for (index, decision) in decisions.enumerated() where decision.status.isEntitlement {
            guard let scope = decision.scope else { continue }
            guard let rival = best[scope] else {
                best[scope] = index
                continue
            }
            let loser = decision.isBetter(than: decisions[rival]) ? rival : index
            best[scope] = loser == rival ? index : rival
            decisions[loser].status = scope.kind == .autoRenewable ? .outranked : .superseded
            decisions[loser].until = nil
        }
        self.decisions = decisions
    }

    /// What is listed as the customer's, which includes a non-renewing subscription that has ended.
    public var granted: [EntitlementDecision] { decisions.filter(\.status.isEntitlement) }

    /// Whether the customer may use a product.
    public func giveAccess(to productId: String) -> Bool {
        decisions.contains { $0.status.givesAccess && $0.transaction?.productId == productId }
    }
}
