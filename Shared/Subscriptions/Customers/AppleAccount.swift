import Contracts

import struct Foundation.Date

/// The purchases that Apple says, or lets us see, are one customer's within one app, and the app's accounts they feed.
///
/// Two purchases are one customer's if their transactions name the same `appTransactionId`. Purchases whose transactions
/// name none stand alone.
public struct AppleAccount: Sendable, Equatable {
    /// The purchases, sorted.
    public let keys: [SubscriptionKey]
    /// The app's accounts, the earliest claim first; of one moment the lesser token first.
    public let appAccountTokens: [String]

    /// Whether several of the app's accounts live on one Apple account: to be shown, never silent.
    public var isShared: Bool { appAccountTokens.count > 1 }

    /// The app's accounts that are entitled to what was bought.
    public func entitledTokens(_ policy: SharingPolicy) -> [String] {
        guard isShared else { return appAccountTokens }
        return switch policy {
        case .firstWins: Array(appAccountTokens.prefix(1))
        case .refuse: []
        case .allow: appAccountTokens
        }
    }

    /// All Apple accounts that the claims speak of, sorted by their first purchase.
    /// - Parameter claims: in any order, with any repetitions.
    public static func all(in claims: some Collection<AccountClaim>) -> [AppleAccount] {
        var groups: [Group] = []
        for claim in claims {
            let names = Group.names(of: claim)
            var merged = Group(names: names, claims: [claim])
            groups.removeAll { group in
                guard !group.names.isDisjoint(with: names) else { return false }
                merged.names.formUnion(group.names)
                merged.claims.formUnion(group.claims)
                return true
            }
            groups.append(merged)
        }
        return groups.map(AppleAccount.init).sorted { left, right in
            left.keys.lexicographicallyPrecedes(right.keys)
        }
    }

    private init(_ group: Group) {
        keys = Set(group.claims.map(\.key)).sorted()
        var first: [String: Date] = [:]
        for claim in group.claims {
            first[claim.appAccountToken] = min(first[claim.appAccountToken] ?? claim.since, claim.since)
        }
        appAccountTokens = first.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key)
    }

    private struct Group {
        var names: Set<Name>
        var claims: Set<AccountClaim>

        static func names(of claim: AccountClaim) -> Set<Name> {
            let purchase = Name(
                environment: claim.key.environment, bundleId: claim.bundleId, kind: 0,
                id: claim.key.originalTransactionId)
            guard let id = claim.appTransactionId else { return [purchase] }
            return [
                purchase, Name(environment: claim.key.environment, bundleId: claim.bundleId, kind: 1, id: id),
            ]
        }
    }

    /// What claims of one customer have in common: a purchase (0) or Apple's id of the customer (1).
    private struct Name: Hashable {
        var environment: StoreEnvironment
        var bundleId: String
        var kind: Int
        var id: String
    }
}
