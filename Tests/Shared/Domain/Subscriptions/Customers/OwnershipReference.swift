import Contracts
import Foundation
import Subscriptions

@testable import TestSupport

/// Who may use the purchases of one app, by brute force: each rule of the library's documentation is asked of each account by itself,
/// and an Apple account is what repeated passes over all purchases and claims reach.
struct OwnershipReference {
    var purchases: [OwnedPurchase] = []
    var claims: [AccountClaim] = []
    var moves: [PurchaseMove] = []
    var policy = SharingPolicy.standard
    var chosen: Set<String> = []
    /// The number of accounts that share by `allow`.
    var most = SharingPolicy.mostAccounts

    func answer() -> Set<PurchaseAccount> {
        var found: Set<PurchaseAccount> = []
        for key in Set(purchases.map(\.key) + claims.map(\.key)) {
            let group = keys(reachedFrom: key)
            for token in Set(
                claims.map(\.appAccountToken) + purchases.compactMap(\.appAccountToken) + moves.compactMap(\.to))
            {
                guard let (mayUse, because) = answer(to: token, about: key, in: group) else { continue }
                found.insert(
                    PurchaseAccount(
                        key: key, bundleId: OwnershipLife.app, appAccountToken: token, mayUse: mayUse, because: because)
                )
            }
        }
        return found
    }

    private func customers(of key: SubscriptionKey) -> Set<String> {
        Set(
            purchases.filter { $0.key == key }.compactMap(\.appTransactionId)
                + claims.filter { $0.key == key }.compactMap(\.appTransactionId)
                + purchases.filter { $0.key == key || $0.migratedFrom == key.originalTransactionId }
                .compactMap { one in one.migratedFrom.map { "from \($0)" } })
    }

    private func keys(reachedFrom key: SubscriptionKey) -> Set<SubscriptionKey> {
        var reached: Set = [key]
        while true {
            let names = reached.reduce(into: Set<String>()) { $0.formUnion(customers(of: $1)) }
            let next = Set(purchases.map(\.key) + claims.map(\.key)).filter {
                reached.contains($0) || !customers(of: $0).isDisjoint(with: names)
            }
            if next == reached { return reached }
            reached = next
        }
    }

    /// Nil where the purchase has nothing to do with the account.
    private func answer(
        to token: String, about key: SubscriptionKey, in group: Set<SubscriptionKey>
    ) -> (Bool, PurchaseAccount.Reason)? {
        let owner = purchases.first { $0.key == key }?.appAccountToken
        let claimants = Set(claims.filter { group.contains($0.key) }.map(\.appAccountToken))
        let counting = claimants.filter { counts($0, in: group) }
        let users = owner.map { counting.union([$0]) } ?? counting
        let isNamed = owner == token || claims.contains { $0.key == key && $0.appAccountToken == token }
        func denied(_ reason: PurchaseAccount.Reason) -> (Bool, PurchaseAccount.Reason)? {
            isNamed ? (false, users.contains(token) ? reason : .oldCopy) : nil
        }
        // W1
        if !users.isDisjoint(with: chosen) {
            return users.contains(token) && chosen.contains(token) ? (true, .chosen) : denied(.notChosen)
        }
        // W2
        if policy != .allow, let holder = move(of: key)?.to {
            return holder == token ? (true, .moved) : denied(.movedAway)
        }
        // W3, W4, W5
        if policy == .allow, users.count > 1, users.contains(token) {
            if owner == token { return (true, .owner) }
            let earlier = counting.count { $0 != token && comes($0, before: token, in: group) }
            return earlier < most ? (true, .shared) : denied(.otherClaim)
        }
        if let owner { return owner == token ? (true, .owner) : denied(.otherOwner) }
        if counting.count == 1 { return counting.contains(token) ? (true, .claim) : denied(.otherClaim) }
        // W6, W7
        if policy == .refuse { return denied(.refused) }
        let isFirst =
            counting.contains(token) && counting.allSatisfy { $0 == token || comes(token, before: $0, in: group) }
        return isFirst ? (true, .claim) : denied(.otherClaim)
    }

    /// The last move of a purchase, or of those that it replaced, until it did; nil where it was bought again since, or was paid for when
    /// it moved as a lapsed one.
    private func move(of key: SubscriptionKey) -> PurchaseMove? {
        var replaced = [(key: key, until: Date.distantFuture)]
        for _ in purchases {
            guard let last = replaced.last, let one = purchases.first(where: { $0.key == last.key }),
                let origin = one.migratedFrom, let migration = one.migratedAt
            else { break }
            let before = SubscriptionKey(environment: key.environment, originalTransactionId: origin)
            replaced.append((before, min(last.until, migration)))
        }
        for (place, one) in replaced.enumerated() {
            guard let move = moves.last(where: { $0.key == one.key && $0.movedAt < one.until }) else { continue }
            let isBought = replaced[...place].contains { later in
                purchases.contains { one in
                    let isPaid = move.isOfLapsed && one.boughtUntil ?? .distantPast > move.movedAt
                    return one.key == later.key && (isPaid || one.boughtAt ?? .distantPast > move.movedAt)
                }
            }
            return isBought ? nil : move
        }
        return nil
    }

    /// W8
    private func counts(_ token: String, in group: Set<SubscriptionKey>) -> Bool {
        let ofGroup = claims.filter { group.contains($0.key) }
        guard ofGroup.allSatisfy({ $0.appAccountToken != token || $0.evidence == .old }) else { return true }
        let others = Set(ofGroup.map(\.appAccountToken)).subtracting([token])
        return others.allSatisfy { other in
            ofGroup.allSatisfy { $0.appAccountToken != other || $0.evidence == .old }
                && comes(token, before: other, in: group)
        } && purchases.allSatisfy { !group.contains($0.key) || $0.appAccountToken ?? token == token }
    }

    private func comes(_ token: String, before other: String, in group: Set<SubscriptionKey>) -> Bool {
        func best(_ token: String) -> (Int, Double, Double, String)? {
            claims.filter { group.contains($0.key) && $0.appAccountToken == token }.map {
                (
                    ClaimEvidence.allCases.firstIndex(of: $0.evidence) ?? 9, $0.since.timeIntervalSince1970,
                    -$0.signedAt.timeIntervalSince1970, token
                )
            }.min { $0 < $1 }
        }
        guard let one = best(token), let two = best(other) else { return best(token) != nil }
        return one < two
    }
}

/// Random claims, moves, choices and purchases of the customers of one app.
struct OwnershipLife {
    static let app = "com.example.metals"

    static func life(seed: UInt64) -> OwnershipReference {
        var generator = SeededGenerator(state: seed)
        let tokens = ["anna", "bert", "carl", "dora"].prefix(.random(in: 1...4, using: &generator))
        let ids = (1...Int.random(in: 1...5, using: &generator)).map { "\($0)" }
        let customers = ["c", "d", "e"].prefix(.random(in: 1...3, using: &generator)).map(Optional.some) + [nil]
        func day() -> Date { Sample.day(Double(Int.random(in: 0..<6, using: &generator))) }
        var life = OwnershipReference()
        life.policy = SharingPolicy.allCases.randomElement(using: &generator) ?? .standard
        life.most = .random(in: 1...5, using: &generator)
        life.chosen = Set(tokens.filter { _ in Int.random(in: 0..<8, using: &generator) == 0 })
        for id in ids where Int.random(in: 0..<5, using: &generator) > 0 {
            let owner = Int.random(in: 0..<3, using: &generator) == 0 ? tokens.randomElement(using: &generator) : nil
            var facts = Sample.period(id)
            facts.appAccountToken = owner
            facts.appTransactionId = customers.randomElement(using: &generator) ?? nil
            facts.reason = Bool.random(using: &generator) ? "PURCHASE" : "RENEWAL"
            facts.purchaseDate = day()
            facts.expiresDate = day()
            if Int.random(in: 0..<6, using: &generator) == 0 {
                facts.previousOriginalTransactionId = ids.randomElement(using: &generator)
            }
            let sample = Sample.purchase(id, facts)
            life.purchases.append(
                OwnedPurchase(
                    sample.subscription,
                    [
                        TransactionVersion(
                            facts, version: EventVersion(signedDate: Sample.day(0), notificationUUID: UUID()))
                    ]))
        }
        let evidence = ClaimEvidence.allCases + [.old, .old]
        for _ in 0..<Int.random(in: 0...6, using: &generator) {
            let claimed = day()
            life.claims.append(
                AccountClaim(
                    key: Sample.key(ids.randomElement(using: &generator) ?? "1"), bundleId: app,
                    appTransactionId: customers.randomElement(using: &generator) ?? nil,
                    appAccountToken: tokens.randomElement(using: &generator) ?? "anna",
                    evidence: evidence.randomElement(using: &generator) ?? .old, since: claimed,
                    signedAt: Bool.random(using: &generator) ? claimed : day()))
        }
        let known = Set(life.purchases.map(\.key) + life.claims.map(\.key)).sorted()
        for _ in 0..<Int.random(in: 0...2, using: &generator) {
            guard let key = known.randomElement(using: &generator) else { break }
            let to = Int.random(in: 0..<5, using: &generator) == 0 ? nil : tokens.randomElement(using: &generator)
            life.moves.append(
                PurchaseMove(
                    key: key, to: to, movedAt: day(), isCounted: true, isOfLapsed: Bool.random(using: &generator)))
        }
        return life
    }
}
