/// Apple's `type` of a product.
///
/// [type](https://developer.apple.com/documentation/appstoreserverapi/type)
public enum ProductKind: String, Sendable, Hashable, CaseIterable {
    case autoRenewable = "Auto-Renewable Subscription"
    case nonConsumable = "Non-Consumable"
    case consumable = "Consumable"
    case nonRenewing = "Non-Renewing Subscription"
}

extension TransactionFacts {
    /// Nil for a type that this build does not know; such a product gives access only where it has an end.
    public var kind: ProductKind? { ProductKind(rawValue: productType) }
}
