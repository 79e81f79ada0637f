import Foundation
import Subscriptions
import TestSupport
import Testing

/// Invariants of entitlements, over random purchases of a customer.
@Suite struct EntitlementPropertiesTests {
    static let levels = ServiceLevels(["gold": 1, "silver": 2])

    static func purchases(seed: UInt64) -> [PurchaseSnapshot] {
        var generator = SeededGenerator(state: seed)
        return (0..<Int.random(in: 1...6, using: &generator)).map { number in
            let kind = Int.random(in: 0..<10, using: &generator)
            let from = Double.random(in: -60...10, using: &generator).rounded()
            let revoked = Int.random(in: 0..<5, using: &generator) == 0 ? from + 1 : nil
            let product = ["gold", "silver", "tin"].randomElement(using: &generator) ?? "gold"
            var facts =
                switch kind {
                case 0: Sample.purchase(.nonConsumable, product, at: from, revoked: revoked)
                case 1: Sample.purchase(.consumable, product, at: from)
                case 2: Sample.purchase(.nonRenewing, product, at: from, to: from + 30, revoked: revoked)
                default:
                    Sample.period(
                        "\(number)", from: from, to: from + 30, product: product, revoked: revoked,
                        isUpgraded: kind == 3)
                }
            facts.ownership = Bool.random(using: &generator) ? "PURCHASED" : "FAMILY_SHARED"
            let renewal = Sample.renewal(
                on: Bool.random(using: &generator), retry: Bool.random(using: &generator),
                grace: Bool.random(using: &generator) ? from + 46 : nil, signed: from + 30)
            return Sample.purchase(
                "\(number)", facts, renewal: renewal, environment: kind == 9 ? .sandbox : .production)
        }
    }

    @Test(arguments: 0..<4 as Range<UInt64>) func `Entitlements hold the invariants for every customer`(part: UInt64) {
        for seed in part * 300..<(part + 1) * 300 {
            var generator = SeededGenerator(state: seed &+ 1)
            let purchases = Self.purchases(seed: seed)
            let entitlements = Entitlements(of: purchases, levels: Self.levels, at: Sample.day(0))
            let shuffled = Entitlements(
                of: purchases.shuffled(using: &generator), levels: Self.levels, at: Sample.day(0))
            #expect(shuffled == entitlements, "order matters, seed \(seed)")
            #expect(entitlements.decisions.count == purchases.count)

            let subscriptions = entitlements.granted.filter { $0.transaction?.kind == .autoRenewable }
            for environment in ["Production", "Sandbox"] {
                let granted = subscriptions.filter { $0.key.environment.rawValue == environment }
                #expect(granted.filter { $0.level != nil }.count <= 1, "two levels of one group, seed \(seed)")
                #expect(Set(granted.map(\.productId)).count == granted.count, "a product twice, seed \(seed)")
                let outranked = entitlements.decisions.filter {
                    $0.status == .outranked && $0.key.environment.rawValue == environment
                }
                for loser in outranked {
                    let winner = granted.contains {
                        $0.productId == loser.productId || ($0.level ?? .max) <= (loser.level ?? .max)
                    }
                    #expect(winner, "a lower level won, seed \(seed)")
                }
            }
            for decision in entitlements.granted {
                #expect(decision.transaction?.revocationDate.map { $0 > Sample.day(0) } ?? true)
                #expect(decision.transaction?.kind != .consumable)
                #expect(decision.until.map { $0 > Sample.day(0) } ?? true)
            }
        }
    }

    @Test func `Another purchase never removes access to a group or a product`() {
        for seed in 0..<600 as Range<UInt64> {
            let purchases = Self.purchases(seed: seed)
            let fewer = Entitlements(of: Array(purchases.dropLast()), levels: Self.levels, at: Sample.day(0))
            let more = Entitlements(of: purchases, levels: Self.levels, at: Sample.day(0))
            func groups(_ entitlements: Entitlements) -> Set<String> {
                Set(
                    entitlements.granted.compactMap {
                        $0.transaction?.subscriptionGroupIdentifier.map { group in
                            "\(group)"
                        } ?? $0.transaction.map { "\($0.productType) \($0.productId)" }
                    })
            }
            #expect(groups(fewer).isSubset(of: groups(more)), "seed \(seed)")
        }
    }
}
