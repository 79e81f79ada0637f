import Contracts
import Foundation
import Postgres
import Subscriptions
import TestSupport
import Testing

@testable import Storage

/// Shared Apple accounts: the database returns the results of the pure functions (E1, E6).
@Suite(.serialized) struct CustomerStoreTests {
    static let app = "com.example.app"
    static let tokens = (1...5).map { "7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7\($0)" }

    /// Purchases of few customers, whose transactions name few accounts and few of Apple's ids, or none.
    static func entries(seed: UInt64, mixing: Int = 4) -> [LedgerEntry] {
        var fixtures = Fixtures(seed: seed)
        return (0..<70).map { index in
            var entry = fixtures.entry(purchases: 9, offset: Int64(index))
            guard var event = entry.event, var facts = event.transaction else { return entry }
            let purchase = Int(event.key.originalTransactionId.suffix(1)) ?? 0
            let dice = Int.random(in: 0..<1000, using: &fixtures.generator)
            // Mostly one customer for each two purchases, and one account for each customer.
            let customer = dice % (5 * mixing) == 0 ? dice % 5 : purchase / 2
            facts.appTransactionId = dice % 3 == 0 ? nil : "70\(customer)"
            facts.appAccountToken = dice % 4 == 0 ? nil : tokens[dice % (3 * mixing) == 1 ? dice % 5 : purchase / 2]
            event.transaction = facts
            event.bundleId = dice % 40 == 0 ? "com.example.other" : app
            entry.event = event
            return entry
        }
    }

    static func use(
        _ entries: [LedgerEntry], _ body: (PostgresConnection) async throws -> Void
    ) async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            _ = try await LedgerStore(connection).apply(
                entries, moving: [Fixtures.move(0, Int64(entries.count))], recordedAt: Fixtures.now)
            try await body(connection)
        }
    }

    /// All Apple accounts of the app, by the pure function.
    static func accounts(_ connection: PostgresConnection) async throws -> [AppleAccount] {
        AppleAccount.all(
            in: try await CustomerStore(connection).claims(of: app, in: .production),
            purchases: try await SubscriptionStore(connection).all().filter { $0.bundleId == app }
                .map { OwnedPurchase($0) })
    }

    @Test(arguments: 500...511 as ClosedRange<UInt64>)
    func `Claims are those of all transactions, in any order and any batches`(seed: UInt64) async throws {
        let entries = Self.entries(seed: seed)
        var expected: [String: AccountClaim] = [:]
        for claim in entries.compactMap({ $0.event.flatMap { AccountClaim($0) } }) where claim.bundleId == Self.app {
            let name = claim.key.originalTransactionId + claim.appAccountToken
            guard var known = expected[name] else {
                expected[name] = claim
                continue
            }
            if claim.isBefore(known) { (known.since, known.signedAt) = (claim.since, claim.signedAt) }
            known.appTransactionId = [known.appTransactionId, claim.appTransactionId].compactMap(\.self).min()
            expected[name] = known
        }
        try await LedgerStoreTests.use { connection, _ async throws in
            var generator = SeededGenerator(state: seed)
            let shuffled = entries.shuffled(using: &generator)
            for (index, start) in stride(from: 0, to: shuffled.count, by: 11).enumerated() {
                let batch = Array(shuffled[start..<min(start + 11, shuffled.count)])
                _ = try await LedgerStore(connection).apply(
                    batch, moving: [Fixtures.move(Int64(index), Int64(index) + 1)], recordedAt: Fixtures.now)
            }
            let found = try await CustomerStore(connection).claims(of: Self.app, in: .production)
            #expect(Set(found) == Set(expected.values))
            #expect(found.count == expected.count)
        }
    }

    @Test(arguments: 520...531 as ClosedRange<UInt64>)
    func `Shared Apple accounts are the same by SQL and by the pure function`(
        seed: UInt64
    ) async throws {
        try await Self.use(Self.entries(seed: seed)) { connection async throws in
            let store = CustomerStore(connection)
            let sharing = SharingStore(connection)
            let accounts = try await Self.accounts(connection).filter(\.isShared)
            #expect(!accounts.isEmpty)
            for policy in SharingPolicy.allCases {
                try await sharing.setPolicy(policy, of: Self.app, in: .production, at: Fixtures.now)
                for isChosen in [false, true] {
                    if isChosen {
                        try await sharing.choose(Self.tokens[3], of: Self.app, in: .production, at: Fixtures.now)
                    }
                    let chosen = try await sharing.chosen(of: Self.app, in: .production)
                    #expect(chosen.isEmpty != isChosen)
                    let shared = try await store.sharedAccounts(of: Self.app, in: .production)
                    let found = shared.map { one in one.accounts.map(\.appAccountToken) }
                    let expected = accounts.map(\.appAccountTokens)
                    #expect(found.count == expected.count)
                    #expect(Set(found) == Set(expected))
                }
                #expect(
                    try await sharing.unchoose(
                        Self.tokens[3], of: Self.app, in: .production, at: Fixtures.now))
            }
            #expect(try await store.sharedAccounts(in: .sandbox).isEmpty)
        }
    }

    /// A purchase of the given account and Apple customer.
    static func purchase(
        _ id: String, of token: String?, by customer: String?, day: Double, _ fixtures: inout Fixtures
    ) -> LedgerEntry {
        var entry = fixtures.entry(purchases: 1)
        let date = Fixtures.epoch.addingTimeInterval(day * 86_400)
        entry.originalTransactionId = id
        entry.event = PurchaseEvent(
            key: SubscriptionKey(environment: .production, originalTransactionId: id),
            version: EventVersion(signedDate: date, notificationUUID: entry.notificationUUID), bundleId: app,
            notificationType: "SUBSCRIBED", subtype: "INITIAL_BUY", status: 1,
            transaction: TransactionFacts(
                transactionId: id, productId: "gold", productType: "Auto-Renewable Subscription", purchaseDate: date,
                expiresDate: date.addingTimeInterval(30 * 86_400), appAccountToken: token, signedDate: date,
                appTransactionId: customer), renewal: nil)
        return entry
    }

    @Test func `LedgerStore notices a shared Apple account once, with the event that revealed it, in the timeline`()
        async throws
    {
        var fixtures = Fixtures(seed: 560)
        let first = Self.purchase("1", of: Self.tokens[0], by: "70", day: 0, &fixtures)
        let second = Self.purchase("2", of: Self.tokens[1], by: "70", day: 1, &fixtures)
        let stranger = Self.purchase("3", of: Self.tokens[2], by: "71", day: 2, &fixtures)
        let again = Self.purchase("2", of: Self.tokens[1], by: "70", day: 3, &fixtures)
        try await LedgerStoreTests.use { connection, _ async throws in
            var noticed: [SharedAccountNotice] = []
            for (index, entry) in [first, second, stranger, again, second].enumerated() {
                let outcome = try await LedgerStore(connection).apply(
                    [entry], moving: [Fixtures.move(Int64(index), Int64(index) + 1)], recordedAt: Fixtures.now)
                let applied = try #require(outcome.applied)
                noticed += applied.shared
            }
            #expect(noticed.map(\.key.originalTransactionId) == ["2"])
            #expect(noticed.map(\.appAccountToken) == [Self.tokens[1]])
            #expect(noticed.map(\.firstAccountToken) == [Self.tokens[0]])
            let key = SubscriptionKey(environment: .production, originalTransactionId: "2")
            let rows = try await TimelineStore(connection).rows(of: key)
                .filter { $0.changes.contains { $0.fact == "sharedAccount" } }
            #expect(rows.map(\.notificationUUID) == [second.notificationUUID])
            let found = rows.flatMap(\.changes).filter { $0.fact == "sharedAccount" }
            #expect(found.map(\.from) == [Self.tokens[0]])
            #expect(found.map(\.to) == [Self.tokens[1]])
            // The outbox publishes it.
            let waiting = try await OutboxStore(connection).changes()
            #expect(waiting.contains { $0.message.changes.contains { $0.fact == "sharedAccount" } })
        }
    }

    @Test func `Two accounts in one batch, and two on one purchase, are noticed too`() async throws {
        var fixtures = Fixtures(seed: 561)
        let batch = [
            Self.purchase("1", of: Self.tokens[0], by: "70", day: 0, &fixtures),
            Self.purchase("2", of: Self.tokens[1], by: "70", day: 1, &fixtures),
            Self.purchase("3", of: Self.tokens[2], by: nil, day: 2, &fixtures),
            Self.purchase("3", of: Self.tokens[3], by: nil, day: 3, &fixtures),
        ]
        try await LedgerStoreTests.use { connection, _ async throws in
            let outcome = try await LedgerStore(connection).apply(
                batch, moving: [Fixtures.move(0, 4)], recordedAt: Fixtures.now)
            let applied = try #require(outcome.applied)
            let pairs = applied.shared.map { [$0.firstAccountToken, $0.appAccountToken] }
            #expect(
                Set(pairs) == [[Self.tokens[0], Self.tokens[1]], [Self.tokens[2], Self.tokens[3]]])
            #expect(pairs.count == 2)
        }
    }

    @Test func `LedgerStore publishes two changes in one message for a notification that reveals two more accounts`()
        async throws
    {
        var fixtures = Fixtures(seed: 563)
        let first = Self.purchase("1", of: Self.tokens[0], by: "70", day: 0, &fixtures)
        let next = Self.purchase("1", of: Self.tokens[0], by: "70", day: 1, &fixtures)
        try await Self.use([first]) { connection async throws in
            let key = SubscriptionKey(environment: .production, originalTransactionId: "1")
            let claims = Self.tokens[1...2].map { token in
                AccountClaim(
                    key: key, bundleId: Self.app, appTransactionId: nil, appAccountToken: token, evidence: .signed,
                    since: Fixtures.now)
            }
            try await CustomerStore(connection).add(claims)
            _ = try await LedgerStore(connection).apply([next], moving: [], recordedAt: Fixtures.now)
            let messages = try await OutboxStore(connection).changes().map(\.message)
            let shared = messages.filter { $0.changes.contains { $0.fact == FactChange.sharedAccount } }
            #expect(shared.map(\.notificationUUID) == [next.notificationUUID])
            let changes = shared.flatMap(\.changes).filter { $0.fact == FactChange.sharedAccount }
            #expect(Set(changes.compactMap(\.to)) == Set(Self.tokens[1...2]))
            #expect(Set(messages.map(\.id)).count == messages.count)
        }
    }

    @Test(arguments: [[0, 1], [1, 0]])
    func `An account that a purchase was moved to is entitled, in every spelling and order`(
        places: [Int]
    ) async throws {
        var fixtures = Fixtures(seed: 563)
        let (old, new) = (Self.tokens[places[0]], Self.tokens[places[1]])
        let bought = Self.purchase("1", of: old, by: "70", day: 0, &fixtures)
        var moved = Self.purchase("1", of: new, by: "70", day: 0, &fixtures)
        moved.event?.version.signedDate = Fixtures.epoch.addingTimeInterval(86_400)
        moved.event?.transaction?.signedDate = Fixtures.epoch.addingTimeInterval(86_400)
        // Apple signs the same moment with and without a fraction.
        moved.event?.transaction?.purchaseDate = Fixtures.epoch.addingTimeInterval(0.000_4)
        for order in [[bought, moved], [moved, bought]] {
            try await LedgerStoreTests.use { connection, _ async throws in
                for (index, entry) in order.enumerated() {
                    _ = try await LedgerStore(connection).apply(
                        [entry], moving: [Fixtures.move(Int64(index), Int64(index) + 1)], recordedAt: Fixtures.now)
                }
                let shared = try await CustomerStore(connection).sharedAccounts(of: Self.app, in: .production)
                #expect(shared.map { $0.accounts.map(\.appAccountToken) } == [[new, old]])
                #expect(shared.map { $0.accounts.map(\.isEntitled) } == [[true, false]])
                let now = Fixtures.epoch.addingTimeInterval(2 * 86_400)
                for (token, count) in [(new, 1), (new.uppercased(), 1), (old, 0)] {
                    let periods = try await AccessStore(connection).access(
                        ofAccount: token, of: Self.app, in: .production, at: now)
                    #expect(periods?.count == count)
                }
                #expect(try await Self.accounts(connection).map(\.appAccountTokens) == [[new, old]])
            }
        }
    }

    @Test(arguments: [[0, 1, 2], [0, 2, 1], [1, 2, 0], [2, 1, 0]], [1, 3])
    func `A shared Apple account is noticed though the last event of a batch has no app transaction id`(
        order: [Int], size: Int
    ) async throws {
        var fixtures = Fixtures(seed: 564)
        let entries = [
            Self.purchase("1", of: Self.tokens[0], by: "70", day: 0, &fixtures),
            Self.purchase("2", of: nil, by: "70", day: 5, &fixtures),
            Self.purchase("2", of: Self.tokens[1], by: nil, day: 1, &fixtures),
        ]
        try await LedgerStoreTests.use { connection, _ async throws in
            var noticed: [SharedAccountNotice] = []
            for start in stride(from: 0, to: 3, by: size) {
                let outcome = try await LedgerStore(connection).apply(
                    order[start..<start + size].map { entries[$0] },
                    moving: [Fixtures.move(Int64(start), Int64(start + size))], recordedAt: Fixtures.now)
                let applied = try #require(outcome.applied)
                noticed += applied.shared
            }
            #expect(noticed.map { Set([$0.firstAccountToken, $0.appAccountToken]) } == [Set(Self.tokens.prefix(2))])
            #expect(try await CustomerStore(connection).sharedAccounts(of: Self.app, in: .production).count == 1)
        }
    }

    @Test func `An upload claims as a transaction does, and the next event of the purchase reveals the shared account`()
        async throws
    {
        var fixtures = Fixtures(seed: 562)
        let entry = Self.purchase("1", of: nil, by: "70", day: 0, &fixtures)
        try await Self.use([entry]) { connection async throws in
            let store = CustomerStore(connection)
            let key = SubscriptionKey(environment: .production, originalTransactionId: "1")
            let claims = Self.tokens.prefix(2).enumerated().map { place, token in
                AccountClaim(
                    key: key, bundleId: Self.app, appTransactionId: nil, appAccountToken: token, evidence: .signed,
                    since: Fixtures.now.addingTimeInterval(Double(place)))
            }
            try await store.add(claims)
            try await store.add(claims)
            #expect(try await Set(store.claims(of: Self.app, in: .production)) == Set(claims))
            let now = Fixtures.epoch.addingTimeInterval(86_400)
            let access = AccessStore(connection)
            for (token, isEntitled) in zip(Self.tokens.prefix(2), [true, false]) {
                let periods = try await access.access(ofAccount: token, of: Self.app, in: .production, at: now)
                #expect(periods?.map(\.productId) == (isEntitled ? ["gold"] : []))
            }
            let next = Self.purchase("1", of: nil, by: "70", day: 1, &fixtures)
            let outcome = try await LedgerStore(connection).apply(
                [next], moving: [Fixtures.move(1, 2)], recordedAt: Fixtures.now)
            let applied = try #require(outcome.applied)
            #expect(applied.shared.map(\.appAccountToken) == [Self.tokens[1]])
        }
    }
}
