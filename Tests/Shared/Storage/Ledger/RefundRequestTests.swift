import Contracts
import Foundation
import Postgres
import Subscriptions
import TestSupport
import Testing

@testable import Storage

/// Requests for a refund and what became of them: a fact of the transaction, in the timeline and in messages.
@Suite struct RefundRequestTests {
    static let key = SubscriptionKey(environment: .production, originalTransactionId: "1")

    /// A notification about a refund of a transaction, signed some minutes after the purchase.
    static func entry(
        _ type: String, minute: Double, transaction: String = "1", _ fixtures: inout Fixtures
    ) -> LedgerEntry {
        var entry = fixtures.entry(purchases: 1)
        let signed = Fixtures.epoch.addingTimeInterval(minute * 60)
        (entry.notificationType, entry.subtype, entry.signedDate) = (type, nil, signed)
        entry.originalTransactionId = key.originalTransactionId
        entry.event = PurchaseEvent(
            key: key, version: EventVersion(signedDate: signed, notificationUUID: entry.notificationUUID),
            bundleId: "com.example.app", notificationType: type, subtype: nil, status: nil,
            transaction: TransactionFacts(
                transactionId: transaction, productId: "coins", productType: "Consumable",
                purchaseDate: Fixtures.epoch, signedDate: Fixtures.epoch), renewal: nil)
        return entry
    }

    /// The changes of the fact, in the order of the timeline: transaction, before, after.
    static func changes(_ connection: PostgresConnection) async throws -> [String] {
        try await TimelineStore(connection).rows(of: key).flatMap(\.changes)
            .filter { $0.fact == FactChange.refundRequest }
            .map { "\($0.transactionId ?? "none") \($0.from ?? "nothing") \($0.to ?? "nothing")" }
    }

    @Test func `A request and its outcome have a row and a message each, and repeats have neither`() async throws {
        var fixtures = Fixtures(seed: 31)
        let bought = Self.entry("ONE_TIME_CHARGE", minute: 0, &fixtures)
        let requested = Self.entry("CONSUMPTION_REQUEST", minute: 1, &fixtures)
        let again = Self.entry("CONSUMPTION_REQUEST", minute: 2, &fixtures)
        let declined = Self.entry("REFUND_DECLINED", minute: 3, &fixtures)
        let late = Self.entry("CONSUMPTION_REQUEST", minute: 2.5, &fixtures)
        let declinedAgain = Self.entry("REFUND_DECLINED", minute: 4, &fixtures)
        let new = Self.entry("CONSUMPTION_REQUEST", minute: 5, &fixtures)
        try await TestDatabase.connected { connection async throws in
            var rows: [Int] = []
            for entry in [bought, requested, again, requested, declined, late, declinedAgain, new] {
                rows.append(try await TimelineStoreTests.apply(entry, connection).changes)
            }
            #expect(rows == [1, 1, 0, 0, 1, 0, 0, 1])
            #expect(
                try await Self.changes(connection) == [
                    "1 nothing requested", "1 requested declined", "1 declined requested",
                ])
            let messages = try await OutboxStore(connection).changes().map(\.message)
            #expect(
                messages.map(\.event) == [
                    "ONE_TIME_CHARGE", "CONSUMPTION_REQUEST", "REFUND_DECLINED", "CONSUMPTION_REQUEST",
                ])
            #expect(messages.map(\.revision) == messages.map(\.revision).sorted())
            #expect(Set(messages.map(\.revision)).count == messages.count)
        }
    }

    @Test func `Refunds of two transactions of a purchase are apart, also within one batch`() async throws {
        var fixtures = Fixtures(seed: 32)
        let entries = [
            Self.entry("CONSUMPTION_REQUEST", minute: 1, transaction: "1", &fixtures),
            Self.entry("CONSUMPTION_REQUEST", minute: 2, transaction: "2", &fixtures),
            Self.entry("REFUND_DECLINED", minute: 3, transaction: "1", &fixtures),
            Self.entry("REFUND", minute: 4, transaction: "2", &fixtures),
            Self.entry("REFUND_REVERSED", minute: 5, transaction: "2", &fixtures),
        ]
        try await TestDatabase.connected { connection async throws in
            _ = try await LedgerStore(connection).apply(entries, moving: [], recordedAt: Fixtures.now)
            #expect(
                try await Self.changes(connection) == [
                    "1 nothing requested", "2 nothing requested", "1 requested declined", "2 requested refunded",
                    "2 refunded reversed",
                ])
        }
    }

    @Test(arguments: 40...51 as ClosedRange<UInt64>)
    func `The value is that of the later event, in any order of arrival and any batches`(seed: UInt64) async throws {
        var fixtures = Fixtures(seed: seed)
        let types = ["CONSUMPTION_REQUEST", "REFUND", "REFUND_DECLINED", "REFUND_REVERSED"]
        let entries = (0..<12).map { index in
            Self.entry(
                types.randomElement(using: &fixtures.generator) ?? "REFUND",
                // Some at the same moment.
                minute: Double(Int.random(in: 0..<9, using: &fixtures.generator)),
                transaction: index % 3 == 0 ? "2" : "1", &fixtures)
        }
        try await TestDatabase.connected { connection async throws in
            var rest = (entries + entries).shuffled(using: &fixtures.generator)[...]
            while !rest.isEmpty {
                let batch = rest.prefix(.random(in: 1...4, using: &fixtures.generator))
                rest = rest.dropFirst(batch.count)
                _ = try await LedgerStore(connection).apply(Array(batch), moving: [], recordedAt: Fixtures.now)
            }
            let changes = try await TimelineStore(connection).rows(of: Self.key).flatMap(\.changes)
                .filter { $0.fact == FactChange.refundRequest }
            for transaction in ["1", "2"] {
                let events = entries.compactMap(\.event).filter { $0.transaction?.transactionId == transaction }
                let newest = try #require(events.max { $0.version < $1.version })
                let told = changes.filter { $0.transactionId == transaction }
                #expect(told.last?.to == RefundRequest(newest)?.status.rawValue)
                // Each goes on from the one before, and changes something.
                #expect(told.first?.from == nil && zip(told, told.dropFirst()).allSatisfy { $0.to == $1.from })
                #expect(told.allSatisfy { $0.from != $0.to })
            }
        }
    }
}
