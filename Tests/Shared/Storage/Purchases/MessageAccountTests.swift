import Contracts
import Foundation
import Postgres
import Subscriptions
import TestSupport
import Testing

@testable import Storage

/// The account and the transaction in a message: joined when it is read, as the API would answer then.
@Suite(.serialized) struct MessageAccountTests {
    private static let app = CustomerStoreTests.app

    /// The unpublished messages about the app, each with the accounts to which entitlements give access by its purchase at any time.
    private static func messages(
        _ connection: PostgresConnection
    ) async throws -> [(message: SubscriptionChanged, entitled: Set<String>, hasPeriods: Bool)] {
        // The last one is in the renewal infos of the fixtures.
        let accounts = (CustomerStoreTests.tokens + ["7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7b"]).compactMap {
            UUID(uuidString: $0)
        }
        let rows = try await connection.pipeline([
            EntitlementStore.command(of: accounts, in: .production, bundleIds: [app], from: .distantPast)
        ])
        let lines = try EntitlementStore.lines(rows[0]).filter { $0.source == .access }
        let entitled = Dictionary(grouping: lines, by: \.id).mapValues {
            Set($0.map { $0.account.uuidString.lowercased() })
        }
        // Of a purchase that an older event gave to another app an account of this one has nothing any more.
        let ofApp = try await AccessStore(connection).all().filter { $0.bundleId == app }
        let periods = Set(ofApp.map(\.key.originalTransactionId))
        return try await OutboxStore(connection).changes(limit: 10_000).map(\.message).filter { $0.bundleId == app }
            .map {
                (
                    $0, entitled[$0.originalTransactionId] ?? [], periods.contains($0.originalTransactionId)
                )
            }
    }

    /// `MESSAGE_SEEDS` runs more of them.
    static let seeds =
        1200...(1199 + (ProcessInfo.processInfo.environment["MESSAGE_SEEDS"].flatMap { UInt64($0) } ?? 6))

    @Test(arguments: seeds)
    func `The account of a message is one that the API entitles, whatever changes and whatever the policy`(
        seed: UInt64
    ) async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            var generator = SeededGenerator(state: seed)
            var entries = CustomerStoreTests.entries(seed: seed, mixing: 2).shuffled(using: &generator)[...]
            var (named, unnamed) = (0, 0)
            while !entries.isEmpty {
                try await EntitlementVersionTests.change(connection, &entries, &generator)
                let subscriptions = try await SubscriptionStore(connection).all()
                let owners = Dictionary(
                    subscriptions.map { ($0.key.originalTransactionId, $0.appAccountToken) },
                    uniquingKeysWith: { $1 })
                for (message, entitled, hasPeriods) in try await Self.messages(connection) where hasPeriods {
                    guard let token = message.appAccountToken else {
                        #expect(entitled.isEmpty, "\(message.originalTransactionId)")
                        unnamed += 1
                        continue
                    }
                    #expect(entitled.contains(token), "\(message.originalTransactionId)")
                    named += 1
                    // Of several the owner, unless an operator chose.
                    let chosen = try await SharingStore(connection).chosen(of: Self.app, in: .production)
                    if chosen.isEmpty, let owner = owners[message.originalTransactionId] ?? nil,
                        entitled.contains(owner)
                    {
                        #expect(token == owner, "\(message.originalTransactionId)")
                    }
                }
            }
            #expect(named > 20, "without an account: \(unnamed)")
        }
    }

    @Test func `A message has the transaction that its notification is about, in the newest version stored`()
        async throws
    {
        var fixtures = Fixtures(seed: 1300)
        let first = TimelineStoreTests.entry("SUBSCRIBED", transaction: "1", from: -40, signed: -40, &fixtures)
        let second = TimelineStoreTests.entry("DID_RENEW", transaction: "2", from: -10, signed: -10, &fixtures)
        let refund = TimelineStoreTests.entry(
            "REFUND", transaction: "1", from: -40, signed: -1, revoked: true, &fixtures)
        var bare = TimelineStoreTests.entry("DID_RENEW", transaction: "2", from: -10, signed: -0.5, &fixtures)
        bare.event?.transaction = nil
        bare.event?.status = 1
        try await LedgerStoreTests.use { connection, _ async throws in
            _ = try await TimelineStoreTests.apply(first, connection)
            let before = try await OutboxStore(connection).changes().map(\.message.transaction)
            #expect(before.map { $0?.transactionId } == ["1"] && before[0]?.revocationDate == nil)
            for entry in [second, refund, bare] { _ = try await TimelineStoreTests.apply(entry, connection) }
            let rows = try await TimelineStore(connection).rows(of: TimelineStoreTests.key)
            let messages = try await OutboxStore(connection).changes().map(\.message)
            #expect(messages.map { $0.transaction?.transactionId } == ["1", "2", "1", nil])
            #expect(messages.map(\.sequence) == rows.map(\.id))
            let facts = try #require(messages[0].transaction)
            #expect(facts.productId == "gold" && facts.type == "Auto-Renewable Subscription")
            #expect(facts.revocationDate == refund.signedDateOfEvent)
            // The feed and the pages of the purchase say the same.
            let feed = try await EventFeed(connection).events(
                after: 0, upTo: .max, in: .production, bundleIds: nil, limit: 100
            ).map(\.message)
            #expect(feed == messages)
            let pages = try await PurchasePages(connection).timeline(of: TimelineStoreTests.key, after: 0, limit: 100)
            #expect(pages.map(\.message) == messages)
        }
    }

    @Test
    func `An account that only an upload named is in no row of the timeline, and after its erasure in no message`()
        async throws
    {
        var fixtures = Fixtures(seed: 1301)
        var bought = try ErasureStoreTests.entry(&fixtures, account: nil, customer: nil)
        bought.event?.renewal = nil
        try await LedgerStoreTests.use { connection, _ async throws in
            try await ErasureStoreTests.apply([bought], connection)
            try await CustomerStore(connection).add([
                AccountClaim(
                    key: SubscriptionKey(environment: .production, originalTransactionId: "1"), bundleId: Self.app,
                    appTransactionId: nil, appAccountToken: ErasureStoreTests.token, evidence: .signed,
                    since: Fixtures.now)
            ])
            func names() async throws -> [String?] {
                let feed = try await EventFeed(connection).events(
                    after: 0, upTo: .max, in: .production, bundleIds: nil, limit: 100)
                return try await OutboxStore(connection).changes().map(\.message.appAccountToken)
                    + feed.map(\.message.appAccountToken)
            }
            #expect(try await names() == [ErasureStoreTests.token, ErasureStoreTests.token])
            #expect(
                try await !ErasureStoreTests.tables(with: ErasureStoreTests.token, connection).contains("timeline"))
            _ = try await ErasureStoreTests.forget(.detach, connection)
            #expect(try await names() == [nil, nil])
        }
    }
}

extension LedgerEntry {
    fileprivate var signedDateOfEvent: Date? { event?.transaction?.revocationDate }
}
