import Contracts

import struct Foundation.Date

/// The purchases that Apple says, or lets us see, are one customer's within one app, and the app's accounts they feed.
///
/// Two purchases are one customer's if their transactions name the same `appTransactionId`. Purchases whose transactions
/// name none stand alone.
public struct AppleAccount: Sendable, Equatable {
    /// The purchases, sorted.
    public let keys: [SubscriptionKey]
    /// The app's accounts, the earliest claim first; of one moment the one told last, then the lesser token.
    public let appAccountTokens: [String]

    /// Whether several of the app's accounts live on one Apple account: to be shown, never silent.
    public var isShared: Bool { appAccountTokens.count > 1 }

    /// The app's accounts that are entitled to what was bought.
    /// - Parameter chosen: accounts of the app that an operator has chosen. Where one of them lives here, the chosen
    ///   ones are entitled and no others, whatever the policy.
    public func entitledTokens(_ policy: SharingPolicy, chosen: Set<String> = []) -> [String] {
        guard isShared else { return appAccountTokens }
        let here = appAccountTokens.filter(chosen.contains)
        guard here.isEmpty else { return here }
        return switch policy {
        case .firstWins: Array(appAccountTokens.prefix(1))
        case .refuse: []
        case .allow: appAccountTokens
        }
    }

    /// All Apple accounts that the claims and purchases speak of, sorted by their first purchase.
    /// - Parameters:
    ///   - claims: in any order, with any repetitions.
    ///   - purchases: further ones, which no account of the app may have claimed; likewise.
    public static func all(
        in claims: some Collection<AccountClaim>, purchases: some Collection<OwnedPurchase> = [OwnedPurchase]()
    ) -> [AppleAccount] {
        var groups: [Group] = []
        for purchase in Set(claims.map { OwnedPurchase($0) }).union(purchases) {
            let names = Group.names(of: purchase)
            var merged = Group(names: names, purchases: [purchase])
            groups.removeAll { group in
                guard !group.names.isDisjoint(with: names) else { return false }
                merged.names.formUnion(group.names)
                merged.purchases.formUnion(group.purchases)
                return true
            }
            groups.append(merged)
        }
        let claims = Dictionary(grouping: claims) { OwnedPurchase($0) }
        return groups.map { group in
            AppleAccount(group.purchases, claims: group.purchases.flatMap { claims[$0] ?? [] })
        }.sorted { left, right in left.keys.lexicographicallyPrecedes(right.keys) }
    }

    private init(_ purchases: Set<OwnedPurchase>, claims: [AccountClaim]) {
        keys = Set(purchases.map(\.key)).sorted()
        var first: [String: AccountClaim] = [:]
        for claim in claims where first[claim.appAccountToken].map(claim.isBefore) ?? true {
            first[claim.appAccountToken] = claim
        }
        appAccountTokens = first.values.sorted { left, right in
            if left.isBefore(right) || right.isBefore(left) { return left.isBefore(right) }
            return left.appAccountToken < right.appAccountToken
        }.map(\.appAccountToken)
    }

    private struct Group {
        var names: Set<Name>
        var purchases: Set<OwnedPurchase>

        static func names(of purchase: OwnedPurchase) -> Set<Name> {
            let environment = purchase.key.environment
            var names: Set = [
                Name(
                    environment: environment, bundleId: purchase.bundleId, kind: 0,
                    id: purchase.key.originalTransactionId)
            ]
            if let id = purchase.appTransactionId {
                names.insert(Name(environment: environment, bundleId: purchase.bundleId, kind: 1, id: id))
            }
            return names
        }
    }

    /// What purchases of one customer have in common: the purchase (0) or Apple's id of the customer (1).
    private struct Name: Hashable {
        var environment: StoreEnvironment
        var bundleId: String
        var kind: Int
        var id: String
    }
}
