import Contracts
import Foundation
import Postgres
import Records
import Storage
import Subscriptions
import TestSupport
import Testing

@Suite(.serialized) struct RecoveryItemStoreTests {
    static let now = Date(timeIntervalSince1970: 1_760_000_000)
    static let app = CoverageStore.App(.production, "com.example.app")

    /// A database with one open window.
    static func use(_ body: (PostgresConnection, UUID) async throws -> Void) async throws {
        try await TestDatabase.connected { connection in
            let window = UUID()
            let scope = RecoveryWindow.Scope(
                environment: app.environment, bundleId: app.bundleId, from: now.addingTimeInterval(-3600), to: now)
            try await RecoveryWindowStore(connection).open(
                [RecoveryWindow.Request(id: window, scope: scope, reason: .manual)], at: now)
            try await body(connection, window)
        }
    }

    static func page(_ window: UUID, _ number: Int64, _ items: [(UUID, RecoveryItem.State)]) -> SeenPage {
        SeenPage(
            window: window, page: number, part: 0,
            items: items.map {
                RecoveryItem(window: window, notificationUUID: $0.0, state: $0.1, noticedAt: now)
            })
    }

    /// Marks all pages, 0 up to a number, as published by the scheduler.
    static func fetch(_ count: Int, _ connection: PostgresConnection) async throws {
        let claims = WindowClaimStore(connection)
        var claim = try #require(try await claims.claim(for: UUID(), apps: [app], seconds: 60).first)
        for page in 1...count {
            let fetched = FetchedPage(
                messages: 1, items: 2, reachedAt: now, nextToken: page == count ? nil : "t\(page)")
            #expect(try await claims.advance(&claim, by: fetched, seconds: 60, at: now))
        }
    }

    static func counts(_ window: UUID, _ connection: PostgresConnection) async throws -> RecoveryWindow.Counts {
        try #require(try await RecoveryWindowStore(connection).window(window)).counts
    }

    /// Puts notifications into the ledger.
    static func arrive(_ uuids: [UUID], at offset: Int64 = 0, _ connection: PostgresConnection) async throws {
        _ = try await PositionStore(connection).establish(
            cluster: "c", group: "g", lowWatermarks: [LogPosition(topic: "t", partition: 0, offset: 0)])
        let entries = uuids.map { uuid in
            LedgerEntry(
                notificationUUID: uuid, notificationType: "TEST", subtype: nil, environment: .production,
                bundleId: app.bundleId, appAppleId: nil, originalTransactionId: nil, transactionId: nil,
                signedDate: nil, receivedAt: now, source: .history, decodedPayload: "{}", signedPayload: [1],
                event: nil,
                position: LogPosition(topic: "t", partition: 0, offset: 0))
        }
        let move = PositionMove(
            cluster: "c", group: "g", topic: "t", partition: 0, expected: offset, next: offset + 1)
        _ = try await LedgerStore(connection).apply(entries, moving: [move], recordedAt: now)
    }

    static func refuse(
        _ uuid: UUID, at offset: Int64, source: NotificationSource, receivedAt: Date, _ connection: PostgresConnection
    ) async throws {
        _ = try await RejectedStore(connection).record([
            RejectedRow(
                cluster: "c", position: LogPosition(topic: "r", partition: 0, offset: offset), stage: "verifier",
                reason: "environment", message: "not accepted", rejectedAt: now,
                claims: RejectedRow.Claims(source: source, receivedAt: receivedAt, notificationUUID: uuid))
        ])
    }

    @Test func `RecoveryItemStore counts a page stored twice once, and a notification on two pages too`() async throws {
        try await Self.use { connection, window async throws in
            let store = RecoveryItemStore(connection)
            let (first, second, third) = (UUID(), UUID(), UUID())
            let page = Self.page(window, 0, [(first, .present), (second, .published), (third, .unreadable)])
            let attempt = RecordedAttempt(
                notificationUUID: second, environment: .production, bundleId: "com.example.app", attemptedAt: Self.now,
                result: "TIMED_OUT")
            for _ in 0..<2 { try await store.record([page], attempts: [attempt]) }
            let again = Self.page(window, 1, [(second, .published), (second, .published), (first, .published)])
            try await store.record([again], attempts: [attempt])
            let counts = try await Self.counts(window, connection)
            #expect(counts == RecoveryWindow.Counts(listed: 3, present: 1, missing: 1, unreadable: 1))
            #expect(try await SendAttemptStore(connection).attempts(at: second) == [attempt])
            #expect(try await store.items(of: window, states: [.published]).map(\.notificationUUID) == [second])
        }
    }

    @Test func `RecoveryItemStore counts a published item as arrived once, when the ledger holds it`() async throws {
        try await Self.use { connection, window async throws in
            let store = RecoveryItemStore(connection)
            let (here, away) = (UUID(), UUID())
            try await store.record(
                [Self.page(window, 0, [(here, .published), (away, .published)])], attempts: [])
            #expect(try await store.settle(at: Self.now) == RecoveryItemStore.Settled())
            try await Self.arrive([here], connection)
            #expect(try await store.recorded([here, away]) == [here])
            #expect(try await store.settle(at: Self.now) == RecoveryItemStore.Settled(arrived: 1))
            #expect(try await store.settle(at: Self.now) == RecoveryItemStore.Settled())
            let counts = try await Self.counts(window, connection)
            #expect(counts == RecoveryWindow.Counts(listed: 2, missing: 2, recovered: 1))
            #expect(counts.stillMissing == 1)
            #expect(try await store.waiting(among: [window, UUID()]) == [window])
        }
    }

    @Test func `RecoveryItemStore counts a rejection only for a record that recovery published`() async throws {
        try await Self.use { connection, window async throws in
            let store = RecoveryItemStore(connection)
            let uuid = UUID()
            try await store.record([Self.page(window, 0, [(uuid, .published)])], attempts: [])
            // A forgery under the same uuid, and an earlier rejection.
            try await Self.refuse(uuid, at: 1, source: .webhook, receivedAt: Self.now, connection)
            let before = Self.now.addingTimeInterval(-300.001)
            try await Self.refuse(uuid, at: 2, source: .history, receivedAt: before, connection)
            #expect(try await store.settle(at: Self.now) == RecoveryItemStore.Settled())
            try await Self.refuse(uuid, at: 3, source: .history, receivedAt: Self.now, connection)
            #expect(try await store.settle(at: Self.now).rejected == 1)
            let item = try #require(try await store.items(of: window).first)
            #expect(item.state == .rejected)
            #expect(item.reason == "verifier: environment")
            #expect(item.message == "not accepted")
            #expect(try await Self.counts(window, connection).rejected == 1)
            #expect(try await store.waiting(among: [window]).isEmpty)
        }
    }

    @Test func `Items of two instances with different clocks are all settled`() async throws {
        try await Self.use { connection, window async throws in
            let store = RecoveryItemStore(connection)
            let uuid = UUID()
            try await store.record([Self.page(window, 0, [(uuid, .published)])], attempts: [])
            // The other instance published it as well, and its clock is behind.
            try await Self.refuse(
                uuid, at: 1, source: .history, receivedAt: Self.now.addingTimeInterval(-60), connection)
            #expect(try await store.settle(at: Self.now).rejected == 1)
            #expect(try await store.waiting(among: [window]).isEmpty)
        }
    }

    @Test func `Pages of a closed or deleted window change nothing`() async throws {
        try await Self.use { connection, window async throws in
            let store = RecoveryItemStore(connection)
            let uuid = UUID()
            try await store.record([Self.page(window, 0, [(uuid, .present)])], attempts: [])
            try await Self.fetch(1, connection)
            #expect(try await RecoveryWindowStore(connection).close([window], at: Self.now) == [window])
            try await store.deletePresent(of: [window])
            #expect(try await store.items(of: window).isEmpty)
            try await store.record(
                [Self.page(window, 0, [(UUID(), .published)]), Self.page(UUID(), 0, [(UUID(), .published)])],
                attempts: [])
            #expect(try await Self.counts(window, connection) == RecoveryWindow.Counts(listed: 1, present: 1))
            #expect(try await store.items(of: window).isEmpty)
        }
    }

    @Test func `Two processes at the same time settle each item once`() async throws {
        try await TestDatabase.use { database in
            let connection = TestDatabase.connection(database)
            let window = UUID()
            let scope = RecoveryWindow.Scope(
                environment: Self.app.environment, bundleId: Self.app.bundleId,
                from: Self.now.addingTimeInterval(-3600), to: Self.now)
            try await RecoveryWindowStore(connection).open(
                [RecoveryWindow.Request(id: window, scope: scope, reason: .manual)], at: Self.now)
            let uuids = (0..<200).map { _ in UUID() }
            try await RecoveryItemStore(connection).record(
                [Self.page(window, 0, uuids.map { ($0, .published) })], attempts: [])
            try await Self.arrive(uuids, connection)
            let settled = try await withThrowingTaskGroup(of: Int64.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        let own = TestDatabase.connection(database)
                        let settled = try await RecoveryItemStore(own).settle(at: Self.now)
                        await own.close()
                        return settled.arrived
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(settled == 200)
            let counts = try await RecoveryWindowStore(connection).window(window)?.counts
            #expect(counts?.recovered == 200)
            await connection.close()
        }
    }

    @Test func `Send attempts are a histogram of Apple's results`() async throws {
        try await Self.use { connection, _ async throws in
            let attempts = (0..<5).map { index in
                RecordedAttempt(
                    notificationUUID: UUID(), environment: .sandbox, bundleId: "com.example.app",
                    attemptedAt: Self.now.addingTimeInterval(Double(index)),
                    result: index < 3 ? "TIMED_OUT" : "NO_RESPONSE")
            }
            let store = SendAttemptStore(connection)
            try await RecoveryItemStore(connection).record([], attempts: attempts + attempts)
            let bars = try await store.histogram(from: Self.now, to: Self.now.addingTimeInterval(60))
            #expect(bars.map(\.result) == ["TIMED_OUT", "NO_RESPONSE"])
            #expect(bars.map(\.attempts) == [3, 2])
            #expect(try await store.delete(attemptedBefore: Self.now.addingTimeInterval(2)) == 2)
            #expect(try await store.histogram(from: Self.now, to: .distantFuture).map(\.attempts) == [2, 1])
        }
    }
}
