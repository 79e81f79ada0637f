/// A product of the simulated apps.
struct Product: Sendable, Hashable {
    enum Kind: Sendable, Hashable, CaseIterable {
        case autoRenewable, nonRenewing, nonConsumable, consumable
        /// A subscription of a type that Apple does not have yet: clients must survive it.
        case unknown
    }

    enum Period: String, Sendable, Hashable, CaseIterable {
        case week = "P1W"
        case month = "P1M"
        case twoMonths = "P2M"
        case threeMonths = "P3M"
        case sixMonths = "P6M"
        case year = "P1Y"
    }

    var kind: Kind
    /// The end of the product id, after the bundle id.
    var suffix: String
    /// The subscription group; nil for a one-time purchase.
    var group: String?
    /// Higher is better: moving up is an upgrade at once, moving down waits for the renewal.
    var level = 0
    /// Nil for a one-time purchase.
    var period: Period?
    /// Thousandths of a unit of the storefront's currency.
    var price: Int64
    /// For volume purchases.
    var seats: Int64?
    /// Paid monthly with a commitment of twelve months.
    var hasCommitment = false
    /// Generic: what is sold by it are the developer's items of Advanced Commerce.
    var isGeneric = false

    /// Whether the suffix is the whole product id.
    var hasOwnId = false

    func id(in bundleId: String) -> String { hasOwnId ? suffix : "\(bundleId).\(suffix)" }

    /// Whether it renews.
    var isSubscription: Bool { period != nil }
}

extension Product {
    private static let mainGroup = "21447302"
    private static let storageGroup = "21447303"
    private static let teamGroup = "21447304"
    private static let bundleGroup = "21447305"
    private static let genericGroup = "21447306"

    private static func subscription(
        _ suffix: String, level: Int, _ period: Period, _ price: Int64, group: String = mainGroup
    ) -> Product {
        Product(kind: .autoRenewable, suffix: suffix, group: group, level: level, period: period, price: price)
    }

    /// One subscription group with every period, in which a customer has one subscription at a time.
    static let subscriptions = [
        subscription("basic.weekly", level: 1, .week, 1_990),
        subscription("basic.monthly", level: 1, .month, 4_990),
        subscription("premium.monthly", level: 2, .month, 9_990),
        subscription("premium.yearly", level: 2, .year, 79_990),
        subscription("studio.monthly", level: 3, .month, 19_990),
        // The same level and period as basic.monthly: moving there is a crossgrade at once.
        subscription("basic-plus.monthly", level: 1, .month, 5_990),
        subscription("basic.bimonthly", level: 1, .twoMonths, 8_990),
        subscription("premium.quarterly", level: 2, .threeMonths, 26_990),
        subscription("studio.halfyearly", level: 3, .sixMonths, 99_990),
        Product(
            kind: .autoRenewable, suffix: "studio.commitment", group: mainGroup, level: 3, period: .month,
            price: 15_990, hasCommitment: true),
    ]

    /// A second group: one Apple account can have a subscription of each.
    static let storage = [
        subscription("storage.monthly", level: 1, .month, 990, group: storageGroup),
        subscription("storage-large.yearly", level: 2, .year, 29_990, group: storageGroup),
    ]

    static let team = Product(
        kind: .autoRenewable, suffix: "team.monthly", group: teamGroup, level: 1, period: .month, price: 49_990,
        seats: 5)

    /// Of a type that this release of a client does not know.
    static let bundle = Product(
        kind: .unknown, suffix: "everything.monthly", group: bundleGroup, level: 1, period: .month, price: 29_990)

    static let generic = Product(
        kind: .autoRenewable, suffix: "generic.monthly", group: genericGroup, level: 1, period: .month, price: 12_990,
        isGeneric: true)

    static let consumables = [
        Product(kind: .consumable, suffix: "coins.100", price: 990),
        Product(kind: .consumable, suffix: "coins.1000", price: 7_990),
    ]
    static let nonConsumable = Product(kind: .nonConsumable, suffix: "filters.unlocked", price: 14_990)
    static let nonRenewing = Product(kind: .nonRenewing, suffix: "season.pass", price: 24_990)

    /// Everything that is not a subscription.
    static let oneTime = consumables + [nonConsumable, nonRenewing]

    private static let groups = Dictionary(grouping: subscriptions + storage + [team, bundle, generic]) { $0.group }

    /// All subscriptions of its group, itself included.
    var siblings: [Product] { Self.groups[group] ?? [] }
}
