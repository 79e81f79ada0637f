import Contracts
import Foundation
import Postgres
import Subscriptions
import TestSupport
import Testing

@testable import Storage

/// The state read back equals the state in memory.
@Suite(.serialized) struct StateReadBackTests {
    /// The complete state of one purchase.
    struct PurchaseState: Equatable {
        var subscription: Subscription?
        var anomalies: [Anomaly] = []
        var periods: [AccessPeriod] = []
        var bundleIds: [String] = []
        var consent: PriceConsent?
        var ends: [SubscriptionEnd] = []
        var transactions: [String: TransactionFacts] = [:]
        var gaps: Set<LifecycleGap> = []
        var switches: [RenewalSwitch] = []
        var cancellations: [Cancellation] = []

        /// Computes the state in memory, from the events alone.
        init(_ events: [PurchaseEvent]) {
            var versions: [String: EventVersion] = [:]
            for one in events {
                subscription = Subscription.applying(one, known: subscription).subscription
                guard let facts = one.transaction else { continue }
                if let known = transactions[facts.transactionId], let version = versions[facts.transactionId],
                    (known.signedDate, version) >= (facts.signedDate, one.version)
                {
                    continue
                }
                transactions[facts.transactionId] = facts
                versions[facts.transactionId] = one.version
            }
            gaps = Set(LifecycleGap.all(in: events))
            anomalies = Anomaly.all(in: events)
            ask(events)
            guard let subscription else { return }
            let schedule = AccessSchedule(
                of: PurchaseSnapshot(
                    subscription: subscription,
                    transactions: transactions.map {
                        TransactionVersion($1, version: versions[$0] ?? subscription.version)
                    }))
            periods = schedule.periods
            if let unexplained = schedule.unexplainedStatus, let statusVersion = subscription.statusVersion {
                gaps.insert(
                    LifecycleGap(
                        kind: .transaction, after: nil, before: unexplained, from: nil, to: statusVersion.signedDate))
            }
        }

        /// Reads the state from the database.
        init(of key: SubscriptionKey, _ connection: PostgresConnection) async throws {
            subscription = try await SubscriptionStore(connection).find(key)
            for facts in try await TransactionStore(connection).transactions(of: key) {
                transactions[facts.transactionId] = facts
            }
            gaps = Set(try await LifecycleGapStore(connection).gaps(of: key))
            anomalies = try await AnomalyStore(connection).anomalies(of: key)
            periods = try await AccessStore(connection).periods(of: key).map { period in
                AccessPeriod(
                    productId: period.productId, startsAt: period.startsAt, endsAt: period.endsAt,
                    reason: try #require(AccessPeriod.Reason(rawValue: period.reason)),
                    transactionId: period.transactionId, notificationUUID: period.notificationUUID)
            }
            let events = try await NotificationStore(connection).lines(of: key).compactMap(\.event)
            ask(events)
        }

        /// Computes what is derived from the ledger on demand.
        private mutating func ask(_ events: [PurchaseEvent]) {
            bundleIds = Set(events.map(\.bundleId)).sorted()
            consent = subscription.map { PriceConsent(of: $0, events: events) }
            ends = SubscriptionEnd.all(in: events)
            switches = RenewalSwitch.all(in: events)
            cancellations = Cancellation.all(in: events)
        }
    }

    static func expectEqualStates(after entries: [LedgerEntry], _ connection: PostgresConnection) async throws {
        let histories = Dictionary(grouping: entries.compactMap(\.event), by: \.key)
        for (key, events) in histories {
            let (found, expected) = (try await PurchaseState(of: key, connection), PurchaseState(events))
            #expect(found.subscription == expected.subscription)
            #expect(found.transactions == expected.transactions)
            #expect(found.periods == expected.periods)
            #expect(found.gaps == expected.gaps)
            #expect(found.anomalies == expected.anomalies)
            #expect(found.ends == expected.ends)
            #expect(found.switches == expected.switches)
            #expect(found.cancellations == expected.cancellations)
            #expect(found == expected)
        }
        #expect(try await Set(SubscriptionStore(connection).all().map(\.key)) == Set(histories.keys))
    }

    @Test(arguments: 100...111 as ClosedRange<UInt64>)
    func `The stored state equals the state in memory, in any order, any batches and by two writers`(
        seed: UInt64
    ) async throws {
        try await LedgerStoreTests.use { connection, database async throws in
            var fixtures = Fixtures(seed: seed)
            let entries = fixtures.entries(160, purchases: 4)
            let orders = [entries.shuffled(using: &fixtures.generator), entries.shuffled(using: &fixtures.generator)]
            let size = Int.random(in: 1...50, using: &fixtures.generator)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (partition, order) in orders.enumerated() {
                    group.addTask {
                        let store = LedgerStore(TestDatabase.connection(database))
                        for start in stride(from: 0, to: order.count, by: size) {
                            let end = min(start + size, order.count)
                            let move = Fixtures.move(Int64(start), Int64(end), partition: Int32(partition))
                            _ = try await store.apply(
                                Array(order[start..<end]), moving: [move], recordedAt: Fixtures.now)
                        }
                    }
                }
                try await group.waitForAll()
            }
            try await Self.expectEqualStates(after: entries, connection)
        }
    }

    @Test func `Continuing from the stored state equals continuing in memory`() async throws {
        try await LedgerStoreTests.use { connection, database async throws in
            var fixtures = Fixtures(seed: 200)
            let entries = fixtures.entries(60, purchases: 1)
            for (index, entry) in entries.enumerated() {
                // A new connection each time, so that only the database holds the state.
                let store = LedgerStore(TestDatabase.connection(database))
                _ = try await store.apply(
                    [entry], moving: [Fixtures.move(Int64(index), Int64(index) + 1)], recordedAt: Fixtures.now)
                try await Self.expectEqualStates(after: Array(entries[...index]), connection)
            }
        }
    }

    @Test func `The later event counts of two versions signed in one millisecond`() async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            var fixtures = Fixtures(seed: 201)
            let entries = (0..<12).map { index in
                var entry = fixtures.entry(purchases: 1)
                entry.event?.version.signedDate = Fixtures.epoch.addingTimeInterval(Double(index % 4))
                entry.event?.transaction = TransactionFacts(
                    transactionId: "1", productId: "p\(index)", productType: "t", signedDate: Fixtures.epoch)
                return entry
            }
            for (index, entry) in entries.shuffled(using: &fixtures.generator).enumerated() {
                _ = try await LedgerStore(connection).apply(
                    [entry], moving: [Fixtures.move(Int64(index), Int64(index) + 1)], recordedAt: Fixtures.now)
            }
            try await Self.expectEqualStates(after: entries, connection)
        }
    }
}
