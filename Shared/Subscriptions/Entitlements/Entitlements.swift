import struct Foundation.Date

/// What a customer may use: StoreKit's `currentEntitlements`, from what is stored and a clock.
public struct Entitlements: Sendable, Equatable {
    /// Every purchase with what it gives or why it gives nothing, sorted by key.
    public let rulings: [Ruling]

    /// - Parameters:
    ///   - holdings: all purchases of one customer, each once, in any order.
    ///   - levels: of the products.
    ///   - now: the clock.
    public init(of holdings: [Holding], levels: GroupLevels, at now: Date) {
        var rulings = holdings.map { $0.ruling(levels: levels, at: now) }.sorted { $0.key < $1.key }
        var best: [Ruling.Scope: Int] = [:]
        for (index, ruling) in rulings.enumerated() where ruling.verdict.isEntitlement {
            guard let scope = ruling.scope else { continue }
            guard let rival = best[scope] else {
                best[scope] = index
                continue
            }
            let loser = ruling.isBetter(than: rulings[rival]) ? rival : index
            best[scope] = loser == rival ? index : rival
            rulings[loser].verdict = scope.kind == .autoRenewable ? .outranked : .superseded
            rulings[loser].until = nil
        }
        self.rulings = rulings
    }

    /// What is listed as the customer's, which includes a non-renewing subscription that has ended.
    public var granted: [Ruling] { rulings.filter(\.verdict.isEntitlement) }

    /// Whether the customer may use a product.
    public func giveAccess(to productId: String) -> Bool {
        rulings.contains { $0.verdict.givesAccess && $0.transaction?.productId == productId }
    }
}
