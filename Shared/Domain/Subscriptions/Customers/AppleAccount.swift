import Contracts

import struct Foundation.Date

/// The purchases of one Apple account within one app, and the app's accounts that use them.
///
/// Two purchases belong together if their transactions name the same `appTransactionId`. A purchase whose transactions
/// name none is an Apple account by itself.
///
/// [appTransactionId](https://developer.apple.com/documentation/appstoreserverapi/apptransactionid)
public struct AppleAccount: Sendable, Equatable {
    /// The purchases, sorted.
    public let keys: [SubscriptionKey]
    /// The app's accounts, the strongest evidence first; of equal evidence the earliest claim, of equal times the one that Apple
    /// signed last, then the lower token. An account whose only evidence is an old copy is one of them where it is the only one.
    public let appAccountTokens: [String]
    /// The purchases that name an account of the app themselves.
    private let owners: [SubscriptionKey: String]
    /// The accounts to which restores moved purchases.
    private let moved: [SubscriptionKey: String]
    /// The accounts that claim the purchases, with any evidence.
    private let claimants: [SubscriptionKey: Set<String>]
    /// The strongest evidence of each account that claims one of the purchases.
    private let evidence: [String: ClaimEvidence]
    private let bundleId: String

    /// Whether several of the app's accounts use one Apple account; operators are shown every such account.
    public var isShared: Bool { appAccountTokens.count > 1 }

    /// The app's accounts that are entitled to a purchase.
    ///
    /// A purchase whose newest transaction names an account belongs to that account. The policy decides about purchases
    /// that name none, and about further accounts where it lets all share. A restore that was accepted moved a purchase until it
    /// is bought again by a transaction that names an account.
    /// - Parameters:
    ///   - most: the number of accounts that share by the policy `allow`; the one that Apple names is always among them.
    ///   - chosen: accounts of the app that an operator has chosen. Where one of them uses this Apple account, only
    ///     the chosen ones are entitled, and the policy does not count.
    public func entitledTokens(
        to purchase: SubscriptionKey, _ policy: SharingPolicy, most: Int = SharingPolicy.mostAccounts,
        chosen: Set<String> = []
    ) -> [String] {
        decision(on: purchase, policy, most: most, chosen: chosen).entitled
    }

    /// The app's accounts that own, claim or may use the purchases, and why each may use them or may not. The entitled ones of a
    /// purchase come first, in the order of ``entitledTokens(to:_:most:chosen:)``.
    public func accounts(
        _ policy: SharingPolicy, most: Int = SharingPolicy.mostAccounts, chosen: Set<String> = []
    ) -> [PurchaseAccount] {
        keys.flatMap { purchase in
            let (entitled, because, others) = decision(on: purchase, policy, most: most, chosen: chosen)
            let (owner, users) = (owners[purchase], users(of: purchase))
            let rest = claimants[purchase, default: []].union([owner].compactMap(\.self)).subtracting(entitled)
            return entitled.map { token in
                account(token, of: purchase, mayUse: true, because == .shared && token == owner ? .owner : because)
            }
                + rest.sorted().map { token in
                    account(token, of: purchase, mayUse: false, users.contains(token) ? others : .oldCopy)
                }
        }
    }

    /// The entitled accounts, the rule that entitles them, and why the other users are not entitled. The numbers of the rules are
    /// those of the library's documentation.
    private func decision(
        on purchase: SubscriptionKey, _ policy: SharingPolicy, most: Int, chosen: Set<String>
    ) -> (entitled: [String], because: PurchaseAccount.Reason, others: PurchaseAccount.Reason) {
        let (owner, users) = (owners[purchase], users(of: purchase))
        // W1
        let selected = users.filter(chosen.contains)
        guard selected.isEmpty else { return (selected, .chosen, .notChosen) }
        // W2
        if policy != .allow, let account = moved[purchase] { return ([account], .moved, .movedAway) }
        // W3
        if policy == .allow, users.count > 1 {
            let first = Array(users.prefix(most))
            return (first + [owner].compactMap(\.self).filter { !first.contains($0) }, .shared, .otherClaim)
        }
        // W4
        if let owner { return ([owner], .owner, .otherOwner) }
        // W5
        guard isShared else { return (users, .claim, .oldCopy) }
        // W6, W7
        return policy == .refuse ? ([], .refused, .refused) : (Array(users.prefix(1)), .claim, .otherClaim)
    }

    /// The accounts that the policy and operators decide between. An owner that Set App Account Token named may have no claim.
    private func users(of purchase: SubscriptionKey) -> [String] {
        appAccountTokens + [owners[purchase]].compactMap(\.self).filter { !appAccountTokens.contains($0) }
    }

    private func account(
        _ token: String, of purchase: SubscriptionKey, mayUse: Bool, _ because: PurchaseAccount.Reason
    ) -> PurchaseAccount {
        PurchaseAccount(key: purchase, bundleId: bundleId, appAccountToken: token, mayUse: mayUse, because: because)
    }

    /// Decides whether a claim by an upload counts: not where other accounts, as many as may claim this Apple account, have evidence that is as
    /// strong. An account that Apple names, that has as strong a claim, or that an operator assigned or chose, is never kept out.
    /// - Parameter most: the number of accounts that may claim the Apple account.
    package func admits(_ claim: AccountClaim, most: Int, chosen: Set<String>) -> Bool {
        let token = claim.appAccountToken
        if claim.evidence <= .operator || chosen.contains(token) { return true }
        if let held = evidence[token], held <= claim.evidence { return true }
        if owners.values.contains(token) || moved.values.contains(token) { return true }
        return evidence.count { $0.key != token && $0.value <= claim.evidence } < most
    }

    /// Whether another account of the app claims or owns one of the purchases.
    public func concernsOthers(than token: String) -> Bool { tokens.contains { $0 != token } }

    /// An owner that Set App Account Token named may have no claim of its own yet.
    private var tokens: [String] {
        appAccountTokens + Set(owners.values).union(moved.values).subtracting(appAccountTokens).sorted()
    }

    /// Whether an operator chose one of the accounts that may have the purchase.
    package func isChosen(for purchase: SubscriptionKey, _ chosen: Set<String>) -> Bool {
        !chosen.isDisjoint(with: appAccountTokens + [owners[purchase]].compactMap(\.self))
    }

    /// The Apple accounts of the claimed and further purchases, sorted by their first purchase.
    /// - Parameters:
    ///   - claims: in any order, with any repetitions.
    ///   - purchases: further purchases, claimed or not, in any order, with any repetitions.
    ///   - moves: of the purchases, in the order of their acceptance.
    public static func all(
        in claims: some Collection<AccountClaim>, purchases: some Collection<OwnedPurchase> = [OwnedPurchase](),
        moves: some Collection<PurchaseMove> = [PurchaseMove]()
    ) -> [AppleAccount] {
        var groups: [Group] = []
        var places: [Name: Int] = [:]
        for purchase in Set(claims.map { OwnedPurchase($0) }).union(purchases) {
            let names = Name.all(of: purchase)
            let found = Set(names.compactMap { places[$0] })
            // The others join the largest, so that a customer of thousands of purchases costs no more for each.
            let place = found.max { groups[$0].names.count < groups[$1].names.count } ?? groups.count
            if place == groups.count { groups.append(Group()) }
            for other in found where other != place {
                for name in groups[other].names { places[name] = place }
                groups[place].formUnion(groups[other])
                groups[other] = Group()
            }
            for name in names { places[name] = place }
            groups[place].formUnion(Group(names: names, purchases: [purchase]))
        }
        let claims = Dictionary(grouping: claims) { OwnedPurchase($0) }
        let moves = Dictionary(grouping: moves, by: \.key)
        return groups.filter { !$0.purchases.isEmpty }.map { group in
            AppleAccount(group.purchases, claims: group.purchases.flatMap { claims[$0] ?? [] }, moves: moves)
        }.sorted { left, right in left.keys.lexicographicallyPrecedes(right.keys) }
    }

    private init(_ purchases: Set<OwnedPurchase>, claims: [AccountClaim], moves: [SubscriptionKey: [PurchaseMove]]) {
        keys = Set(purchases.map(\.key)).sorted()
        bundleId = purchases.first?.bundleId ?? ""
        claimants = claims.reduce(into: [:]) { $0[$1.key, default: []].insert($1.appAccountToken) }
        owners = Dictionary(
            purchases.compactMap { one in one.appAccountToken.map { (one.key, $0) } }, uniquingKeysWith: min)
        let known = Dictionary(grouping: purchases, by: \.key)
        moved = keys.reduce(into: [:]) { moved, key in moved[key] = Self.account(movedTo: key, known, moves) }
        var first: [String: AccountClaim] = [:]
        for claim in claims where first[claim.appAccountToken].map(claim.isBefore) ?? true {
            first[claim.appAccountToken] = claim
        }
        evidence = first.mapValues(\.evidence)
        let named = Set(owners.values)
        let ordered = first.values.sorted { left, right in
            if left.isBefore(right) || right.isBefore(left) { return left.isBefore(right) }
            return left.appAccountToken < right.appAccountToken
        }
        // W8: an old copy claims only what no other account owns or claims. It is the first where all others are old, too.
        appAccountTokens = ordered.enumerated().filter { place, claim in
            claim.evidence != .old || (place == 0 && named.isSubset(of: [claim.appAccountToken]))
        }.map(\.element.appAccountToken)
    }

    /// The account to which the last restore of a purchase moved it, or one of the purchase that a migration replaced by it: one made
    /// before the migration, because what is left of the replaced purchase moves nothing. Nil where it was bought again since, and
    /// where it was paid for at the time of a restore that took it for lapsed: Apple's word came later.
    private static func account(
        movedTo key: SubscriptionKey, _ known: [SubscriptionKey: [OwnedPurchase]],
        _ moves: [SubscriptionKey: [PurchaseMove]]
    ) -> String? {
        var (key, end, bought, paid) = (key, Date.distantFuture, Date.distantPast, Date.distantPast)
        var seen: Set<SubscriptionKey> = []
        while seen.insert(key).inserted {
            let purchases = known[key] ?? []
            bought = purchases.compactMap(\.boughtAt).reduce(bought, max)
            paid = purchases.compactMap(\.boughtUntil).reduce(paid, max)
            if let last = moves[key]?.last(where: { $0.movedAt < end }) {
                return bought > last.movedAt || last.isOfLapsed && paid > last.movedAt ? nil : last.to
            }
            guard let origin = purchases.compactMap(\.migratedFrom).min(),
                let migration = purchases.compactMap(\.migratedAt).min()
            else { return nil }
            end = min(end, migration)
            key = SubscriptionKey(environment: key.environment, originalTransactionId: origin)
        }
        return nil
    }

    private struct Group {
        var names: Set<Name> = []
        var purchases: Set<OwnedPurchase> = []

        mutating func formUnion(_ other: Group) {
            names.formUnion(other.names)
            purchases.formUnion(other.purchases)
        }
    }

    /// An id that joins purchases of one customer: the original transaction id (kind 0) or the app transaction id (1).
    private struct Name: Hashable {
        var environment: StoreEnvironment
        var bundleId: String
        var kind: Int
        var id: String

        static func all(of purchase: OwnedPurchase) -> Set<Name> {
            func name(_ kind: Int, _ id: String) -> Name {
                Name(environment: purchase.key.environment, bundleId: purchase.bundleId, kind: kind, id: id)
            }
            let customer = purchase.appTransactionId.map { name(1, $0) }
            // Apple may name neither customer nor account after a migration: who has the purchase before has this one.
            let origin = purchase.migratedFrom.map { name(0, $0) }
            return Set([name(0, purchase.key.originalTransactionId), customer, origin].compactMap(\.self))
        }
    }
}
