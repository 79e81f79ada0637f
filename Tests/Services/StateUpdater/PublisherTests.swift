import Contracts
import Development
import Foundation
import Kafka
import Logging
import Postgres
import Records
import Storage
import Subscriptions
import TestSupport
import Testing

@testable import StateUpdater

@Suite(.serialized) struct PublisherTests {
    static let logger = Logger.quiet
    static let now = Date(timeIntervalSince1970: 1_760_000_000)

    /// Offset 0 is stored for partitions 0 and 1.
    static func use(
        _ body: @Sendable (DevelopmentBroker, Producer, PostgresConfiguration) async throws -> Void
    ) async throws {
        try await PipelineHarness.with { harness in
            _ = try await PositionStore(harness.connection).establish(
                cluster: "c", group: "g",
                lowWatermarks: [0, 1].map { LogPosition(topic: "t", partition: $0, offset: 0) })
            try await body(harness.broker, harness.producer, harness.database)
        }
    }

    static func publisher(
        _ database: PostgresConfiguration, _ producer: Producer, leaseSeconds: Int64
    ) -> Publisher {
        let connection = TestDatabase.connection(database)
        var publisher = Publisher(
            outbox: OutboxStore(connection), leases: LeaseStore(connection), producer: producer, holder: UUID(),
            now: { now }, logger: logger)
        publisher.leaseSeconds = leaseSeconds
        publisher.patience = .zero
        return publisher
    }

    /// An event of a purchase; each number changes the state.
    static func entry(_ purchase: Int, _ number: Int, event: String = "DID_RENEW") -> LedgerEntry {
        let date = now.addingTimeInterval(Double(number) * 86_400)
        let uuid = UUID()
        let key = SubscriptionKey(environment: .production, originalTransactionId: "\(purchase)")
        let purchaseEvent = PurchaseEvent(
            key: key, version: EventVersion(signedDate: date, notificationUUID: uuid), bundleId: "com.example.app",
            notificationType: event, subtype: nil, status: 1,
            transaction: TransactionFacts(
                transactionId: "\(purchase)-\(number)", productId: "gold", productType: "Auto-Renewable Subscription",
                purchaseDate: date, expiresDate: date.addingTimeInterval(86_400), signedDate: date), renewal: nil)
        return LedgerEntry(
            notificationUUID: uuid, notificationType: event, subtype: nil, environment: .production,
            bundleId: "com.example.app", appAppleId: nil, originalTransactionId: key.originalTransactionId,
            transactionId: purchaseEvent.transaction?.transactionId, signedDate: date, receivedAt: now,
            source: .webhook,
            decodedPayload: "{}", signedPayload: [1], event: purchaseEvent,
            position: LogPosition(topic: "t", partition: 0, offset: 0))
    }

    static func apply(
        _ entries: [LedgerEntry], at offset: Int64, partition: Int32 = 0, _ connection: PostgresConnection
    ) async throws {
        let move = PositionMove(
            cluster: "c", group: "g", topic: "t", partition: partition, expected: offset,
            next: offset + Int64(entries.count))
        _ = try await LedgerStore(connection).apply(entries, moving: [move], recordedAt: now)
    }

    @Test func `Publisher publishes every change in order of each purchase, with two writers and two publishers`()
        async throws
    {
        try await Self.use { broker, producer, database in
            let (purchases, batches, size) = (6, 20, 12)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for partition: Int32 in 0...1 {
                    group.addTask {
                        let connection = TestDatabase.connection(database)
                        for batch in 0..<batches {
                            let entries = (0..<size).map { index in
                                Self.entry(index % purchases, (batch * size + index) * 2 + Int(partition))
                            }
                            try await Self.apply(
                                entries, at: Int64(batch * size), partition: partition, connection)
                        }
                    }
                }
                // A lease that ends at once: both publish at the same time, again and again.
                for _ in 0..<2 {
                    group.addTask {
                        let publisher = Self.publisher(database, producer, leaseSeconds: 0)
                        let connection = TestDatabase.connection(database)
                        let positions = PositionStore(connection)
                        while true {
                            let turn = try await publisher.turn()
                            let written = try await positions.all(cluster: "c", group: "g")
                            let isOver = written.allSatisfy { $0.offset == Int64(batches * size) }
                            if isOver, turn == .idle, try await publisher.outbox.changes(limit: 1).isEmpty { return }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let connection = TestDatabase.connection(database)
            let timeline = try await TimelineStore(connection).newest(1_000_000)
            #expect(timeline.count > 100)
            #expect(timeline.allSatisfy { $0.publishedAt == Self.now })
            let expected = Set(timeline.map { SubscriptionChanged.id(of: $0) })
            let messages = try await broker.messages(of: Topics.changed) {
                Set($0.map(\.id)).count == expected.count
            }
            #expect(Set(messages.map(\.id)) == expected)
            var seen: Set<String> = []
            let first = messages.filter { seen.insert($0.id).inserted }
            for (purchase, changes) in Dictionary(grouping: first, by: \.originalTransactionId) {
                let ordered = timeline.reversed().filter { $0.key.originalTransactionId == purchase }
                #expect(
                    changes.map(\.id)
                        == ordered.map { SubscriptionChanged.id(of: $0) })
            }
        }
    }

    @Test func `Publisher publishes a change when it is announced, and does not look for changes all the time`()
        async throws
    {
        try await Self.use { broker, producer, database in
            var publisher = Self.publisher(database, producer, leaseSeconds: 36_000)
            publisher.idlePause = .seconds(3600)
            let connection = TestDatabase.connection(database)
            let outbox = OutboxStore(connection)
            try await withThrowingTaskGroup(of: Void.self) { [publisher] group in
                group.addTask { try await publisher.run() }
                for number in 1...3 {
                    try await Self.apply([Self.entry(1, number)], at: Int64(number - 1), connection)
                    try await outbox.announce()
                    let messages = try await broker.messages(of: Topics.changed) { $0.count >= number }
                    #expect(messages.count == number)
                }
                group.cancelAll()
            }
            await connection.close()
        }
    }

    @Test func `Publisher waits while another one holds the lease`() async throws {
        try await Self.use { _, producer, database in
            let first = Self.publisher(database, producer, leaseSeconds: 600)
            let second = Self.publisher(database, producer, leaseSeconds: 600)
            #expect(try await first.turn() == .idle)
            #expect(try await second.turn() == .leaseHeldElsewhere)
            #expect(try await first.turn() == .idle)
            try await first.leases.release(Publisher.lease, of: first.holder)
            #expect(try await second.turn() == .idle)
            #expect(try await first.turn() == .leaseHeldElsewhere)
        }
    }

    @Test func `Publisher requests recovery of a gap once, and not of a gap that has closed meanwhile`() async throws {
        try await Self.use { broker, producer, database in
            let connection = TestDatabase.connection(database)
            // Two purchases without their first notification; that of the second arrives in time.
            let (lost, late) = (Self.entry(1, 5), Self.entry(2, 5))
            let beginning = {
                var entry = Self.entry(2, 4, event: "SUBSCRIBED")
                entry.event?.subtype = "INITIAL_BUY"
                return entry
            }()
            try await Self.apply([lost, late], at: 0, connection)
            try await Self.apply([beginning], at: 2, connection)
            let publisher = Self.publisher(database, producer, leaseSeconds: 600)
            while try await publisher.turn() != .idle {}
            // A later renewal leaves a gap of its own.
            try await Self.apply([Self.entry(1, 8)], at: 3, connection)
            while try await publisher.turn() != .idle {}
            let requests = try await broker.messages(of: Topics.recoveryRequests) { $0.count >= 2 }
            #expect(requests.map(\.originalTransactionId) == ["1", "1"])
            #expect(requests.map(\.before) == [lost.notificationUUID, requests[1].before])
            #expect(requests.map(\.skipped) == [["beginning"], ["period"]])
            #expect(Set(requests.map(\.id)).count == 2)
        }
    }

    @Test func `Publisher sends a change with the trace of its notification, and deletes it from the database then`()
        async throws
    {
        let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        try await Self.use { broker, producer, database in
            let connection = TestDatabase.connection(database)
            var traced = Self.entry(1, 1)
            traced.traceparent = trace
            try await Self.apply([traced, Self.entry(2, 1)], at: 0, connection)
            let outbox = OutboxStore(connection)
            let waiting = try await outbox.changes().map(\.message)
            let publisher = Self.publisher(database, producer, leaseSeconds: 600)
            while try await publisher.turn() != .idle {}
            let messages = try await broker.messages(of: Topics.changed) { $0.count == waiting.count }
            #expect(messages.contains { $0.originalTransactionId == "2" })
            for message in messages {
                #expect(message.traceparent == (message.originalTransactionId == "1" ? trace : nil))
            }
            try await connection.run(
                unsafeScript:
                    "do $$ begin assert not exists (select from timeline where traceparent is not null); end $$"
            )
            await connection.close()
        }
    }
}

extension SubscriptionChanged {
    /// The id of the message for a row of the timeline.
    fileprivate static func id(of row: TimelineRow) -> String {
        "\(row.notificationUUID.uuidString.lowercased())/\(row.key.originalTransactionId)"
    }
}
