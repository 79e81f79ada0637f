/// The dimensions of an amount within one app and environment.
package struct RevenueCell: Sendable, Hashable, Comparable {
    /// ISO 4217 code. Amounts of different currencies are never added.
    package var currency: String
    /// The product, by its App Store Connect id.
    package var productId: String
    /// The country of the storefront, as Apple signed it; empty where it did not.
    package var storefront: String
    /// The length of what was paid for, such as `P1M`; empty for what has no period.
    package var period: String
    /// `introductory`, `promotional`, `code`, `winBack`; empty without an offer, or Apple's number for a type that this build does not
    /// know.
    package var offer: String

    package init(_ facts: TransactionFacts, period: BillingPeriod?) {
        currency = facts.currency ?? ""
        productId = facts.productId
        storefront = facts.storefront ?? ""
        self.period = period?.description ?? ""
        offer =
            switch facts.offerType {
            case nil: ""
            case 1: "introductory"
            case 2: "promotional"
            case 3: "code"
            case 4: "winBack"
            case let number?: "\(number)"
            }
    }

    /// A fixed order, by the texts.
    package static func < (left: Self, right: Self) -> Bool { left.texts.lexicographicallyPrecedes(right.texts) }

    private var texts: [String] { [currency, productId, storefront, period, offer] }
}
