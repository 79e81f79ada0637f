import Contracts
import Foundation
import Postgres
import Records
import Storage
import Subscriptions
import TestSupport
import Testing

@Suite struct LedgerStoreTests {
    /// A database with offset 0 for partition 0 (and 1).
    static func use(_ body: (PostgresConnection, PostgresConfiguration) async throws -> Void) async throws {
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            _ = try await PositionStore(connection).establish(
                cluster: "cluster", group: "state-updater",
                lowWatermarks: [
                    LogPosition(topic: Fixtures.topic, partition: 0, offset: 0),
                    LogPosition(topic: Fixtures.topic, partition: 1, offset: 0),
                ])
            try await body(connection, database)
        }
    }

    static func states(_ connection: PostgresConnection) async throws -> [SubscriptionKey: Subscription] {
        let all = try await SubscriptionStore(connection).all()
        return Dictionary(uniqueKeysWithValues: all.map { ($0.key, $0) })
    }

    @Test func `LedgerStore writes the ledger, the state, the timeline and the stored offset of a batch`() async throws
    {
        try await Self.use { connection, _ async throws in
            var fixtures = Fixtures(seed: 1)
            let entries = fixtures.entries(100)
            let outcome = try await LedgerStore(connection).apply(
                entries, moving: [Fixtures.move(0, 100)], recordedAt: Fixtures.now)
            let applied = try #require(outcome.applied)
            #expect(applied.inserted == 100)
            #expect(applied.repeated == 0)
            #expect(applied.advanced + applied.stale == 100)
            #expect(applied.stale > 0)
            #expect(try await Self.states(connection) == Fixtures.states(after: entries))
            let position = try await PositionStore(connection).all(cluster: "cluster", group: "state-updater")
            #expect(position.map(\.offset) == [100, 0])
            let timeline = try await TimelineStore(connection).newest(10_000)
            #expect(timeline.count == applied.changes)
            #expect(timeline.allSatisfy { $0.appliedAt == Fixtures.now && $0.publishedAt == nil })
            let stale = try await NotificationStore(connection).page().filter { !$0.hasAdvanced }
            #expect(stale.count == applied.stale)
            #expect(try await StatusStore(connection).latencies(ofLast: 3) == [0.25, 0.25, 0.25])
        }
    }

    @Test func `All fields of an event are stored unchanged`() async throws {
        try await Self.use { connection, _ async throws in
            var fixtures = Fixtures(seed: 2)
            var entry = fixtures.entry()
            entry.notification.original = SignedOriginal(encoding: SignedSample.likeApple(seed: 9))
            entry.notificationType = "NEVER_HEARD_OF"
            entry.subtype = "NOR_OF_THIS"
            _ = try await LedgerStore(connection).apply(
                [entry], moving: [Fixtures.move(0, 1)], recordedAt: Fixtures.now)
            let store = NotificationStore(connection)
            let line = try #require(try await store.page().first)
            #expect(line.notificationUUID == entry.notificationUUID)
            #expect(line.notificationType == "NEVER_HEARD_OF")
            #expect(line.subtype == "NOR_OF_THIS")
            #expect(line.signedDate == entry.signedDate)
            #expect(line.receivedAt == entry.receivedAt)
            #expect(line.environment == .production)
            #expect(line.source == "webhook")
            #expect(try await store.original(entry.notificationUUID) == (try entry.signedPayload))
            #expect(try await store.decoded(entry.notificationUUID) == entry.decodedPayload)
            #expect(try await store.original(UUID()) == nil)
        }
    }

    @Test func `LedgerStore gives a redelivered notification no effect`() async throws {
        try await Self.use { connection, _ async throws in
            var fixtures = Fixtures(seed: 3)
            let entries = fixtures.entries(20)
            let store = LedgerStore(connection)
            _ = try await store.apply(entries + entries, moving: [Fixtures.move(0, 40)], recordedAt: Fixtures.now)
            let timeline = try await TimelineStore(connection).newest(1000)
            let again = try await store.apply(
                entries.reversed(), moving: [Fixtures.move(40, 60)], recordedAt: Fixtures.now)
            var nothing = Applied()
            nothing.repeated = 20
            #expect(again == .applied(nothing))
            #expect(try await TimelineStore(connection).newest(1000) == timeline)
            #expect(try await StatusStore(connection).notifications() == 20)
        }
    }

    @Test func `Other content under a known notificationUUID is flagged once, and the first stays`() async throws {
        try await Self.use { connection, _ async throws in
            var fixtures = Fixtures(seed: 4)
            let entry = fixtures.entry()
            func saying(_ words: String, signed: String) -> LedgerEntry {
                var other = entry
                other.decodedPayload = "{\"other\": \"\(words)\"}"
                other.notification.original = SignedOriginal(encoding: Array(signed.utf8))
                return other
            }
            let (other, third) = (saying("b", signed: "b.b.b"), saying("c", signed: "c.c.c"))
            var resigned = entry
            resigned.notification.original = SignedOriginal(encoding: Array("d.d.d".utf8))
            let reread = saying("a", signed: String(decoding: try entry.signedPayload, as: UTF8.self))
            let store = LedgerStore(connection)
            let batches = [
                ([entry, other], 1), ([other, entry], 0), ([other], 0), ([third, third], 1), ([resigned, reread], 0),
            ]
            for (batch, conflicting) in batches {
                let outcome = try await store.apply(batch, moving: [], recordedAt: Fixtures.now)
                let applied = try #require(outcome.applied)
                #expect(applied.conflicting == conflicting)
            }
            let ledger = NotificationStore(connection)
            #expect(try #require(try await ledger.page().first).contentConflicts == 2)
            let kept = try await ledger.conflicts(with: entry.notificationUUID)
            #expect(try Set(kept.map(\.signedOriginal)) == [other.signedPayload, third.signedPayload])
            #expect(try await ledger.decoded(entry.notificationUUID) == entry.decodedPayload)
        }
    }

    @Test func `LedgerStore changes nothing for a worker whose stored offset has moved`() async throws {
        try await Self.use { connection, _ async throws in
            var fixtures = Fixtures(seed: 5)
            let store = LedgerStore(connection)
            _ = try await store.apply([fixtures.entry()], moving: [Fixtures.move(0, 1)], recordedAt: Fixtures.now)
            let zombie = [Fixtures.move(0, 1), Fixtures.move(0, 5, partition: 1)]
            let outcome = try await store.apply([fixtures.entry()], moving: zombie, recordedAt: Fixtures.now)
            #expect(outcome == .fenced([zombie[0]]))
            #expect(try await StatusStore(connection).notifications() == 1)
            let positions = try await PositionStore(connection).all(cluster: "cluster", group: "state-updater")
            #expect(positions.map(\.offset) == [1, 0])
        }
    }

    @Test func `LedgerStore fences a worker whose stored offset is missing`() async throws {
        try await Self.use { connection, _ async throws in
            let move = Fixtures.move(0, 1, partition: 9)
            let outcome = try await LedgerStore(connection).apply([], moving: [move], recordedAt: Fixtures.now)
            #expect(outcome == .fenced([move]))
        }
    }

    @Test func `LedgerStore stores a notification about no purchase without effect`() async throws {
        try await Self.use { connection, _ async throws in
            var fixtures = Fixtures(seed: 6)
            var test = fixtures.entry()
            test.event = nil
            test.notificationType = "TEST"
            test.originalTransactionId = nil
            test.transactionId = nil
            test.signedDate = nil
            let outcome = try await LedgerStore(connection).apply(
                [test], moving: [Fixtures.move(0, 1)], recordedAt: Fixtures.now)
            var applied = Applied()
            applied.inserted = 1
            #expect(outcome == .applied(applied))
            #expect(try await Self.states(connection).isEmpty)
        }
    }

    @Test func `Purchases of one id in sandbox and production are different`() async throws {
        try await Self.use { connection, _ async throws in
            var fixtures = Fixtures(seed: 7)
            let entries =
                (0..<20).map { _ in fixtures.entry(purchases: 1) }
                + (0..<20).map { _ in fixtures.entry(purchases: 1, environment: .sandbox) }
            _ = try await LedgerStore(connection).apply(
                entries.shuffled(), moving: [Fixtures.move(0, 40)], recordedAt: Fixtures.now)
            let states = try await Self.states(connection)
            #expect(states.count == 2)
            #expect(states == Fixtures.states(after: entries))
        }
    }

    @Test func `LedgerStore stores the years 1 and 9999`() async throws {
        try await Self.use { connection, _ async throws in
            var fixtures = Fixtures(seed: 10)
            let entries = [-62_135_596_800, 253_402_300_799.999].map { seconds in
                var entry = fixtures.entry(purchases: 1)
                let date = Date(timeIntervalSince1970: seconds)
                entry.signedDate = date
                entry.event?.version.signedDate = date
                entry.event?.transaction = TransactionFacts(
                    transactionId: "1", productId: "p", productType: "t", purchaseDate: date, expiresDate: date,
                    signedDate: date)
                return entry
            }
            _ = try await LedgerStore(connection).apply(
                entries.reversed(), moving: [Fixtures.move(0, 2)], recordedAt: Fixtures.now)
            #expect(try await Self.states(connection) == Fixtures.states(after: entries))
        }
    }

    @Test func `LedgerStore reports a fault for an entry that the database cannot store`() async throws {
        try await Self.use { connection, _ async throws in
            var fixtures = Fixtures(seed: 11)
            let good = fixtures.entry()
            var bad = fixtures.entry()
            bad.event?.transaction = TransactionFacts(
                transactionId: "1", productId: "a\0b", productType: "t", signedDate: Fixtures.now)
            var late = fixtures.entry()
            late.signedDate = Date(timeIntervalSince1970: 1e15)
            late.event?.version.signedDate = Date(timeIntervalSince1970: 1e15)
            #expect(good.fault == nil)
            #expect(bad.fault?.contains("NUL") == true)
            #expect(late.fault != nil)
            let error = await #expect(throws: PostgresError.self) {
                try await LedgerStore(connection).apply(
                    [good, bad], moving: [Fixtures.move(0, 2)], recordedAt: Fixtures.now)
            }
            #expect(error?.meaning == .rejectedValue)
            #expect(try await StatusStore(connection).notifications() == 0)
        }
    }
}
