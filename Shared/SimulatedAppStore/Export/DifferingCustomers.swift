import Foundation

/// Customers who buy by command so that another system can be wrong about them: what happens to each, some minutes ago.
struct DifferingCustomers: Sendable {
    let app: App
    /// The products that the app sells.
    let catalogue: Catalogue

    private var products: [Product] { catalogue.products(in: app.bundleId) }

    /// The longest subscription below another of its group: in the sandbox a month is over in minutes.
    private var subscription: Product? {
        products.filter { product in
            product.isSubscription && !product.hasCommitment && product.seats == nil
                && products.contains { $0.group == product.group && $0.level > product.level }
        }.max { Self.length($0) < Self.length($1) }
    }

    private static func length(_ product: Product) -> Int {
        product.period.flatMap { Product.Period.allCases.firstIndex(of: $0) } ?? 0
    }

    /// Buys, and lets happen what a cause needs.
    /// - Parameters:
    ///   - outbox: sends what Apple sends about it.
    ///   - date: now.
    /// - Returns: the purchase's original transaction id; nil where the cause needs none, or the app sells nothing that fits.
    /// - Throws: ``SimulatorError`` where an event cannot follow.
    func buy(for cause: DifferenceCause, in outbox: inout Outbox, at date: Date) throws -> String? {
        let isFamilyShared = cause == .familySharing
        let product = cause == .nonRenewingDuration ? products.first { $0.kind == .nonRenewing } : subscription
        guard let product, !cause.isForeign else { return nil }
        let buyer = ManualPurchases.Buyer(
            app: app, appAccountToken: isFamilyShared ? nil : outbox.uuid(),
            catalogue: catalogue.isOwn(app) ? products : [],
            isFamilyShared: isFamilyShared)
        // Apple's simulated refunds are prorated in every fourth millisecond.
        let quarter = Date(milliseconds: date.milliseconds / 4 * 4)
        let bought = try outbox.buy(product, for: buyer, at: quarter.adding(-600))
        guard let id = bought.purchase?.originalTransactionId else { return nil }
        let shift = cause == .refundProrated ? 0 : 0.001
        for (index, kind) in cause.events.enumerated() {
            _ = try outbox.trigger(
                kind.type.rawValue, subtype: kind.subtype?.rawValue, purchase: id, product: nil,
                at: quarter.adding(Double(index) - 120 + shift))
        }
        return id
    }
}

extension DifferenceCause {
    /// True for a cause that is about no purchase that Apple knows.
    var isForeign: Bool {
        switch self {
        case .grantByHand, .otherStore, .sandbox, .unknownToApple: true
        default: false
        }
    }

    /// The events after the purchase.
    fileprivate var events: [NotificationKind] {
        switch self {
        case .gracePeriod: [NotificationKind(.didFailToRenew, .gracePeriod)]
        case .billingRetry: [LifecycleEvent.failToRenew.kind]
        case .refundInFull, .refundProrated: [.refund]
        case .refundReversed: [.refund, NotificationKind(.refundReversed)]
        case .upgrade: [.upgraded]
        case .endWithinFiveMinutes:
            [
                NotificationKind(.didChangeRenewalStatus, .autoRenewDisabled), NotificationKind(.expired, .voluntary),
            ]
        case .familySharing, .otherOwner, .nonRenewingDuration, .unexplained, .grantByHand, .otherStore, .sandbox,
            .unknownToApple:
            []
        }
    }
}
