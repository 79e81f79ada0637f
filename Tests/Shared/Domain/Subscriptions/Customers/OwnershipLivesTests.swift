import Contracts
import Foundation
import Subscriptions
import Testing

/// `OWNERSHIP_LIVES=100000 OWNERSHIP_SEED=7 swift test --filter OwnershipLivesTests` plays more lives or others.
@Suite struct OwnershipLivesTests {
    static let count = UInt64(ProcessInfo.processInfo.environment["OWNERSHIP_LIVES"] ?? "") ?? 5000
    static let seed = UInt64(ProcessInfo.processInfo.environment["OWNERSHIP_SEED"] ?? "") ?? 0

    @Test func `Who may use a purchase, and why, is what a brute-force reference says, in random lives`() {
        var reasons: [PurchaseAccount.Reason: Int] = [:]
        for number in 0..<Self.count {
            let life = OwnershipLife.life(seed: Self.seed &* 1_000_003 &+ number)
            let decided = AppleAccount.all(in: life.claims, purchases: life.purchases, moves: life.moves)
                .flatMap { $0.accounts(life.policy, most: life.most, chosen: life.chosen) }
            for one in decided { reasons[one.because, default: 0] += 1 }
            let expected = life.answer()
            guard Set(decided) != expected || decided.count != expected.count else { continue }
            Issue.record("life \(number): \(Set(decided).symmetricDifference(expected)) of \(life)")
        }
        // Each rule decided something.
        #expect(Set(reasons.keys) == Set(PurchaseAccount.Reason.allCases), "\(reasons)")
    }

    @Test func `At most one account may use a purchase, but where an operator or the policy lets several`() {
        for number in 0..<min(Self.count, 2000) {
            let life = OwnershipLife.life(seed: Self.seed &* 1_000_003 &+ number)
            for account in AppleAccount.all(in: life.claims, purchases: life.purchases, moves: life.moves) {
                let users = Dictionary(
                    grouping: account.accounts(life.policy, most: life.most, chosen: life.chosen).filter(\.mayUse),
                    by: \.key)
                for (key, users) in users where users.count > 1 {
                    let isAllowed = users.allSatisfy { $0.because == .chosen } || life.policy == .allow
                    #expect(isAllowed, "life \(number), purchase \(key)")
                }
            }
        }
    }
}
