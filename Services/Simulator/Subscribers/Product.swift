/// What the imagined apps sell.
struct Product: Sendable, Equatable {
    enum Period: Sendable, Equatable, CaseIterable { case week, month, year }

    /// What follows the bundle id in the product id.
    var suffix: String
    /// Higher is better: moving up is an upgrade at once, moving down waits for the renewal.
    var level: Int
    /// Nil for what is bought once.
    var period: Period?
    /// Thousandths of a unit of the storefront's currency.
    var price: Int64

    /// One subscription group, in rising order of level.
    static let subscriptions = [
        Product(suffix: "basic.weekly", level: 1, period: .week, price: 1_990),
        Product(suffix: "basic.monthly", level: 1, period: .month, price: 4_990),
        Product(suffix: "premium.monthly", level: 2, period: .month, price: 9_990),
        Product(suffix: "premium.yearly", level: 2, period: .year, price: 79_990),
        Product(suffix: "studio.monthly", level: 3, period: .month, price: 19_990),
    ]

    static let consumables = [
        Product(suffix: "coins.100", level: 0, period: nil, price: 990),
        Product(suffix: "coins.1000", level: 0, period: nil, price: 7_990),
    ]

    func id(in bundleId: String) -> String { "\(bundleId).\(suffix)" }
}
