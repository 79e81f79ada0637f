import struct Foundation.Date

/// The entitlements of one of the app's accounts: those of the Apple accounts that it uses, unless ``SharingPolicy`` gives
/// them to another account.
public struct AccountEntitlements: Sendable, Equatable {
    /// The entitlements from purchases that give the account access.
    public let served: Entitlements
    /// Purchases withheld from the account because another account of the app uses the same Apple account, sorted.
    public let rejected: [SubscriptionKey]

    /// - Parameters:
    ///   - token: the account, lower-case UUID text.
    ///   - bundleId: the app.
    ///   - accounts: the Apple accounts of the app in one environment; those that the account does not use are ignored.
    ///   - purchases: all purchases of these Apple accounts, each once, in any order.
    ///   - policy: the sharing policy of the app.
    ///   - chosen: the accounts that operators chose for their Apple accounts.
    ///   - levels: the service levels of the products.
    ///   - durations: the configured durations of non-renewing products, by product id.
    ///   - now: the moment to answer for, past or future.
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
        rejected = Set(accounts.flatMap(\.keys)).subtracting(serving).sorted()
    }
}
