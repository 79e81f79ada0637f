import Contracts
import Foundation
import Postgres
import Storage
import Subscriptions
import TestSupport
import Testing

@Suite struct TimelineStoreTests {
    static let key = SubscriptionKey(environment: .production, originalTransactionId: "1")
    static let day = 86_400.0

    /// An event of a period that begins after a number of days and lasts thirty.
    static func entry(
        _ event: String, transaction: String, from start: Double, signed: Double, revoked: Bool = false,
        _ fixtures: inout Fixtures
    ) -> LedgerEntry {
        var entry = fixtures.entry(purchases: 1)
        let date = Fixtures.now.addingTimeInterval(signed * day)
        let begin = Fixtures.now.addingTimeInterval(start * day)
        entry.event = PurchaseEvent(
            key: key, version: EventVersion(signedDate: date, notificationUUID: entry.notificationUUID),
            bundleId: "com.example.app", notificationType: event, subtype: nil, status: nil,
            transaction: TransactionFacts(
                transactionId: transaction, productId: "gold", productType: "Auto-Renewable Subscription",
                purchaseDate: begin, expiresDate: begin.addingTimeInterval(30 * day),
                revocationDate: revoked ? date : nil, signedDate: date), renewal: nil)
        return entry
    }

    static func apply(_ entry: LedgerEntry, _ connection: PostgresConnection) async throws -> Applied {
        let outcome = try await LedgerStore(connection).apply([entry], moving: [], recordedAt: Fixtures.now)
        return try #require(outcome.applied)
    }

    static func givesAccess(_ connection: PostgresConnection) async throws -> Bool {
        try await AccessStore(connection).periods(of: key).contains { $0.contains(Fixtures.now) }
    }

    @Test func `TimelineStore has a refund of an earlier period that ends access, and it is published`() async throws {
        var fixtures = Fixtures(seed: 21)
        // The next period was charged early and refunded, so that the earlier one counts; then that one is refunded too.
        let entries = [
            Self.entry("SUBSCRIBED", transaction: "1", from: -10, signed: -10, &fixtures),
            Self.entry("DID_RENEW", transaction: "2", from: 19.5, signed: -3, &fixtures),
            Self.entry("REFUND", transaction: "2", from: 19.5, signed: -2, revoked: true, &fixtures),
        ]
        let refund = Self.entry("REFUND", transaction: "1", from: -10, signed: -1, revoked: true, &fixtures)
        try await TestDatabase.connected { connection async throws in
            for entry in entries { _ = try await Self.apply(entry, connection) }
            #expect(try await Self.givesAccess(connection))
            let before = try await TimelineStore(connection).rows(of: Self.key)
            #expect(
                before.flatMap(\.changes).allSatisfy { $0.transactionId == nil || $0.fact == "refundRequest" })
            #expect(try await Self.apply(refund, connection).changes == 1)
            #expect(try await !Self.givesAccess(connection))

            let rows = try await TimelineStore(connection).rows(of: Self.key).dropFirst(before.count)
            #expect(rows.map(\.notificationUUID) == [refund.notificationUUID])
            let changes = rows.flatMap(\.changes)
            #expect(changes.map(\.fact) == ["earlierRevocationDate", "refundRequest", "accessUntil"])
            #expect(changes.map(\.transactionId) == ["1", "1", nil])
            #expect(changes.last?.to == "none")
            let message = try #require(try await OutboxStore(connection).changes().last?.message)
            #expect(message.changes == changes)
            #expect(message.event == "REFUND")
            #expect(!message.state.hasAccess)
            #expect(message.revision == Int64(before.count) + 1)
        }
    }

    @Test func `TimelineStore has a late earlier period while it gives access, and no older version of it`()
        async throws
    {
        var fixtures = Fixtures(seed: 22)
        let current = Self.entry("DID_RENEW", transaction: "3", from: 5, signed: -1, &fixtures)
        let running = Self.entry("DID_RENEW", transaction: "2", from: -20, signed: -3, &fixtures)
        let older = Self.entry("DID_RENEW", transaction: "2", from: -20, signed: -4, &fixtures)
        let over = Self.entry("SUBSCRIBED", transaction: "1", from: -50, signed: -50, &fixtures)
        try await TestDatabase.connected { connection async throws in
            for entry in [current, running, older, over] { _ = try await Self.apply(entry, connection) }
            let rows = try await TimelineStore(connection).rows(of: Self.key)
                .filter { $0.changes.contains { $0.transactionId != nil } }
            #expect(rows.map(\.notificationUUID) == [running.notificationUUID])
            let changes = rows.flatMap(\.changes).filter { $0.transactionId != nil }
            #expect(changes.map(\.fact) == ["earlierExpiresDate"])
            #expect(changes.first?.to == running.event?.transaction?.expiresDate?.formatted(Self.iso8601))
        }
    }

    static let iso8601 = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
}
