/// What kind of product was bought.
public enum ProductKind: String, Sendable, Hashable, CaseIterable {
    case autoRenewable = "Auto-Renewable Subscription"
    case nonConsumable = "Non-Consumable"
    case consumable = "Consumable"
    case nonRenewing = "Non-Renewing Subscription"
}

extension TransactionFacts {
    /// Nil for a kind that this build does not know; such a product gives no access.
    public var kind: ProductKind? { ProductKind(rawValue: productType) }
}
