import Contracts
import Foundation
import Postgres
import Storage
import Subscriptions
import TestSupport
import Testing

/// The order of arrival decides nothing.
@Suite struct LedgerOrderTests {
    @Test func `LedgerStore never overwrites a transaction by an older version`() async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            var fixtures = Fixtures(seed: 8)
            let entries = fixtures.entries(60, purchases: 2).filter { $0.event?.transaction != nil }
            for (index, entry) in entries.shuffled().enumerated() {
                _ = try await LedgerStore(connection).apply(
                    [entry], moving: [Fixtures.move(Int64(index), Int64(index) + 1)], recordedAt: Fixtures.now)
            }
            var newest: [String: PurchaseEvent] = [:]
            for event in entries.compactMap(\.event) {
                guard let id = event.transaction?.transactionId else { continue }
                if newest[id].map({ $0.version < event.version }) ?? true { newest[id] = event }
            }
            var stored: [String: TransactionFacts] = [:]
            for key in Set(newest.values.map(\.key)) {
                for facts in try await TransactionStore(connection).transactions(of: key) {
                    stored[facts.transactionId] = facts
                }
            }
            #expect(stored == newest.mapValues(\.transaction))
        }
    }

    @Test(arguments: [false, true])
    func `A purchase ends by its migration where two workers store them at once`(isMigrationFirst: Bool) async throws {
        var fixtures = Fixtures(seed: 9)
        let old = CustomerStoreTests.purchase("1", of: nil, by: nil, day: 0, &fixtures)
        var migrated = CustomerStoreTests.purchase("9", of: nil, by: nil, day: 10, &fixtures)
        migrated.event?.transaction?.previousOriginalTransactionId = "1"
        let entries = isMigrationFirst ? [migrated, old] : [old, migrated]
        try await LedgerStoreTests.use { connection, database async throws in
            let (holder, observer) = (TestDatabase.connection(database), TestDatabase.connection(database))
            // A worker that has read waits before it writes.
            try await holder.run(unsafeScript: "begin; lock table notification_payload in share mode")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (partition, entry) in entries.enumerated() {
                    group.addTask {
                        _ = try await LedgerStore(TestDatabase.connection(database)).apply(
                            [entry], moving: [Fixtures.move(0, 1, partition: Int32(partition))],
                            recordedAt: Fixtures.now)
                    }
                    _ = try await TestDatabase.blockedBackends(partition + 1, asking: observer)
                }
                try await holder.run(unsafeScript: "rollback")
                try await group.waitForAll()
            }
            let ended = try await connection.execute(
                unsafeSQL: """
                    select count(*) as count
                    from access_period
                    join transaction on transaction.original_transaction_id = '9'
                    where access_period.original_transaction_id = '1' and upper(period) = purchased_at
                    """)
            #expect(try ended[0].value("count", as: Int64.self) == 1)
        }
    }

    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func `The state is the same after any order in any batches by two writers`(seed: UInt64) async throws {
        try await LedgerStoreTests.use { connection, database async throws in
            var fixtures = Fixtures(seed: seed)
            let entries = fixtures.entries(150)
            let orders = [entries.shuffled(using: &fixtures.generator), entries.shuffled(using: &fixtures.generator)]
            let size = Int.random(in: 1...40, using: &fixtures.generator)
            let inserted = try await withThrowingTaskGroup(of: Int.self) { group in
                for (partition, order) in orders.enumerated() {
                    group.addTask {
                        let store = LedgerStore(TestDatabase.connection(database))
                        var inserted = 0
                        for start in stride(from: 0, to: order.count, by: size) {
                            let end = min(start + size, order.count)
                            let move = Fixtures.move(Int64(start), Int64(end), partition: Int32(partition))
                            let outcome = try await store.apply(
                                Array(order[start..<end]), moving: [move], recordedAt: Fixtures.now)
                            if case .applied(let applied) = outcome { inserted += applied.inserted }
                        }
                        return inserted
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(inserted == entries.count)
            #expect(try await LedgerStoreTests.states(connection) == Fixtures.states(after: entries))
            try await Self.expectConsistentTimeline(connection)
        }
    }

    /// Each change begins where the one before it ended, revisions rise, and no notification changes a purchase twice.
    static func expectConsistentTimeline(_ connection: PostgresConnection) async throws {
        struct Place: Hashable {
            var key: SubscriptionKey
            var fact: String
            var transactionId: String?
        }
        var values: [Place: String?] = [:]
        var rows: Set<String> = []
        var revisions: [SubscriptionKey: Int64] = [:]
        for row in try await TimelineStore(connection).newest(100_000).reversed() {
            #expect(rows.insert("\(row.notificationUUID) \(row.key)").inserted)
            #expect(row.revision > revisions[row.key, default: 0])
            revisions[row.key] = row.revision
            for change in row.changes {
                if change.fact == FactChange.refundRequest {
                    let place = Place(key: row.key, fact: change.fact, transactionId: change.transactionId)
                    #expect(change.transactionId != nil && change.from == values[place, default: nil])
                    values[place] = change.to
                    continue
                }
                if change.transactionId != nil {
                    #expect(EarlierTransaction.Fact(rawValue: change.fact) != nil)
                    continue
                }
                let place = Place(key: row.key, fact: change.fact)
                if change.fact != FactChange.accessUntil { #expect(change.from == values[place, default: nil]) }
                values[place] = change.to
            }
        }
        for state in try await SubscriptionStore(connection).all() {
            for fact in Fact.allCases {
                #expect(fact.text(in: state) == values[Place(key: state.key, fact: fact.rawValue), default: nil])
            }
        }
    }
}
