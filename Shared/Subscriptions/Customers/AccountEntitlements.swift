import struct Foundation.Date

/// What one of the app's accounts may use: all that the Apple accounts bought which it lives on, as far as it need not
/// share them.
public struct AccountEntitlements: Sendable, Equatable {
    /// Of everything that the account is served.
    public let served: Entitlements
    /// Purchases that it is refused because another account of the app lives on the same Apple account, sorted.
    public let refused: [SubscriptionKey]

    /// - Parameters:
    ///   - token: the account, lower-case UUID text.
    ///   - bundleId: the app.
    ///   - accounts: of the app in one environment; others may be left out if the account does not live on them.
    ///   - purchases: all purchases of these Apple accounts, each once, in any order.
    ///   - policy: of the app.
    ///   - chosen: what operators chose.
    ///   - levels: of the products.
    ///   - durations: of non-renewing products, by product id.
    ///   - now: the moment that is asked about.
    public init(
        of token: String, bundleId: String, accounts: [AppleAccount], purchases: [PurchaseSnapshot],
        policy: SharingPolicy, chosen: Set<String> = [], levels: ServiceLevels,
        durations: [String: ProductDuration] = [:], at now: Date
    ) {
        let accounts = accounts.filter { $0.concerns(token) }
        let serving = Set(
            accounts.flatMap { account in
                account.keys.filter { account.entitledTokens(to: $0, policy, chosen: chosen).contains(token) }
            })
        let mine = purchases.filter { serving.contains($0.subscription.key) && $0.subscription.bundleId == bundleId }
        served = Entitlements(of: mine, levels: levels, durations: durations, at: now)
        refused = Set(accounts.flatMap(\.keys)).subtracting(serving).sorted()
    }
}
