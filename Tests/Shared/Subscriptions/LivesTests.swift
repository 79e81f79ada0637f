import Contracts
import Foundation
import Subscriptions
import Testing

/// Properties over generated lives. A failure names the shortest life found that shows it.
@Suite struct LivesTests {
    /// Everything that is believed of one purchase.
    struct Belief: Equatable {
        var subscription: Subscription?
        var anomalies: [Anomaly]
        var transactions: [String: TransactionVersion]
        var skipped: [LifecycleGap]

        init(_ news: [PurchaseEvent]) {
            subscription = nil
            anomalies = Anomaly.all(in: news)
            var versions: [String: TransactionVersion] = [:]
            for one in news {
                subscription = Subscription.applying(one, known: subscription).subscription
                guard let facts = one.transaction else { continue }
                let version = TransactionVersion(facts, version: one.version)
                if versions[facts.transactionId].map({ $0.isOlder(than: version) }) ?? true {
                    versions[facts.transactionId] = version
                }
            }
            transactions = versions
            skipped = LifecycleGap.all(in: news)
        }
    }

    /// Runs a property over many lives and shrinks the first that breaks it.
    static func expect(_ seeds: Range<UInt64>, _ holds: @escaping ([PurchaseEvent], UInt64) -> Bool) {
        for seed in seeds {
            let deeds = Deed.life(seed: seed)
            if holds(Life.news(of: deeds), seed) { continue }
            let shortest = shrunk(deeds) { !holds(Life.news(of: $0), seed) }
            Issue.record("seed \(seed): \(shortest.map(\.description).joined(separator: ", "))")
            return
        }
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func `any order and any repetition of a life ends in the same belief`(part: UInt64) {
        Self.expect(part * 400..<(part + 1) * 400) { news, seed in
            var generator = SplitMix(seed: seed &+ 77)
            let repeated = news + news.filter { _ in Bool.random(using: &generator) }
            return Belief(repeated.shuffled(using: &generator)) == Belief(news)
        }
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func `so it does where parts are missing, moments coincide and transactions were signed before their news`(
        part: UInt64
    ) {
        Self.expect(100_000 + part * 400..<100_000 + (part + 1) * 400) { news, seed in
            var generator = SplitMix(seed: seed &+ 78)
            let ragged = Life.ragged(news, using: &generator)
            let repeated = ragged + ragged.filter { _ in Bool.random(using: &generator) }
            return Belief(repeated.shuffled(using: &generator)) == Belief(ragged)
        }
    }

    @Test func `a ragged life lacks every part somewhere, and has moments that coincide`() {
        var generator = SplitMix(seed: 79)
        let lives = (0..<100 as Range<UInt64>).map { seed in
            Life.ragged(Life.news(of: Deed.life(seed: seed)), using: &generator)
        }
        let news = lives.flatMap(\.self)
        #expect(news.contains { $0.status == nil && $0.transaction != nil })
        #expect(news.contains { $0.renewal == nil && $0.transaction != nil })
        #expect(news.contains { $0.transaction == nil && $0.renewal != nil })
        #expect(news.contains { one in one.transaction.map { $0.signedDate < one.version.signedDate } ?? false })
        #expect(lives.contains { life in Set(life.map(\.version.signedDate)).count < life.count })
        #expect(Set(news.map(\.bundleId)).count == 2)
    }

    @Test func `the backward order of a life ends in the same belief`() {
        Self.expect(5000..<5300) { news, _ in Belief(news.reversed()) == Belief(news) }
    }

    @Test func `at the moment of each notification the state is Apple's status`() {
        Self.expect(10_000..<10_600) { news, _ in
            for (index, one) in news.enumerated() {
                // A status about a period that has not begun: the one before still runs.
                if let start = one.transaction?.purchaseDate, start > one.version.signedDate { continue }
                let belief = Belief(Array(news[...index]))
                guard let subscription = belief.subscription, let status = one.status else { return false }
                let state = PurchaseSnapshot(
                    subscription: subscription, transactions: Array(belief.transactions.values)
                ).state(at: one.version.signedDate)
                let expected: [Int: SubscriptionState] = [
                    1: .active, 2: .expired, 3: .billingRetry, 4: .gracePeriod, 5: .revoked,
                ]
                if state != expected[status] { return false }
            }
            return true
        }
    }

    @Test func `nothing is skipped in a life that is told completely`() {
        Self.expect(20_000..<21_000) { news, _ in LifecycleGap.all(in: news).isEmpty }
    }

    @Test func `a life that is told completely raises no anomalies`() {
        Self.expect(30_000..<30_400) { news, _ in Anomaly.all(in: news).isEmpty }
    }

    @Test func `a life without its beginning says so until the beginning arrives`() {
        Self.expect(40_000..<40_400) { news, _ in
            let rest = Array(news.dropFirst())
            let hasStep = rest.contains(where: \.isStep)
            let isNoticed = LifecycleGap.all(in: rest).contains { $0.kind == .beginning }
            return isNoticed == hasStep && LifecycleGap.all(in: rest + news.prefix(1)).isEmpty
        }
    }

    @Test func `the changes, one after another, tell the whole state`() {
        Self.expect(50_000..<50_300) { news, seed in
            var generator = SplitMix(seed: seed)
            var told: [Fact: String] = [:]
            var known: Subscription?
            for one in news.shuffled(using: &generator) {
                let learned = Subscription.applying(one, known: known)
                for change in learned.changes {
                    if told[change.fact] != change.from { return false }
                    told[change.fact] = change.to
                }
                known = learned.subscription
            }
            return Fact.allCases.allSatisfy { fact in told[fact] == known.flatMap { fact.text(in: $0) } }
        }
    }

    @Test func `without further news access that was lost does not come back`() {
        Self.expect(60_000..<60_300) { news, _ in
            let belief = Belief(news)
            guard let subscription = belief.subscription, let last = news.last?.version.signedDate else { return true }
            let purchase = PurchaseSnapshot(subscription: subscription, transactions: Array(belief.transactions.values))
            let access = (0..<60).map { step in
                let now = last.addingTimeInterval(Double(step) * 2 * Life.day)
                return !Entitlements(of: [purchase], levels: ServiceLevels(), at: now).granted.isEmpty
            }
            return access == access.sorted { $0 && !$1 }
        }
    }

    @Test func `the lives reach every kind of news about a subscription`() {
        let reached = Set((0..<400).flatMap { Life.news(of: Deed.life(seed: $0)) }.compactMap(\.eventType))
        let aboutNoSubscription: Set<EventType> = [
            .massExtensionDone, .boughtOnce, .tokenUnreported, .tokenCreated, .tokenReminder, .consentRescinded,
            .seatsUnclaimed, .seatsRefunded, .tested,
        ]
        #expect(reached == Set(EventType.allCases).subtracting(aboutNoSubscription))
    }

    @Test func `a failing life is shrunk to what makes it fail`() {
        let deeds = Deed.life(seed: 3) + [Deed(eventType: .tested, minutes: 0, choice: 1)] + Deed.life(seed: 4)
        let shortest = shrunk(deeds) { $0.contains { $0.eventType == .tested && $0.choice == 1 } }
        #expect(shortest == [Deed(eventType: .tested, minutes: 0, choice: 1)])
    }
}
