import Contracts
import Foundation
import Postgres
import Storage
import Subscriptions
import TestSupport
import Testing

/// Contradictory events and their state in the database.
@Suite(.serialized) struct BadInputTests {
    /// The state and the anomalies of a purchase after one event.
    static func applied(
        _ connection: PostgresConnection, _ change: (inout PurchaseEvent) -> Void
    ) async throws -> (state: Subscription?, anomalies: [Anomaly]) {
        var fixtures = Fixtures(seed: 300)
        var entry = fixtures.entry(purchases: 1)
        let date = Fixtures.epoch
        var event = PurchaseEvent(
            key: SubscriptionKey(environment: .production, originalTransactionId: "1"),
            version: EventVersion(signedDate: date, notificationUUID: entry.notificationUUID),
            bundleId: "com.example.app",
            notificationType: "SUBSCRIBED", subtype: "INITIAL_BUY", status: 1,
            transaction: TransactionFacts(
                transactionId: "1", productId: "gold", productType: "Auto-Renewable Subscription", purchaseDate: date,
                expiresDate: date.addingTimeInterval(86_400), quantity: 1, priceMilliunits: 9990, signedDate: date),
            renewal: RenewalFacts(autoRenewStatus: true, signedDate: date))
        change(&event)
        entry.event = event
        #expect(entry.fault == nil)
        _ = try await LedgerStore(connection).apply([entry], moving: [Fixtures.move(0, 1)], recordedAt: Fixtures.now)
        return (
            try await SubscriptionStore(connection).find(event.key),
            try await AnomalyStore(connection).anomalies(of: event.key)
        )
    }

    /// - Returns: the state, after checking that exactly this anomaly is stored.
    static func expect(_ anomaly: Anomaly, _ change: (inout PurchaseEvent) -> Void) async throws -> Subscription {
        let result = Mutable<Subscription?>(nil)
        try await LedgerStoreTests.use { connection, _ async throws in
            let (state, anomalies) = try await applied(connection, change)
            #expect(anomalies == [anomaly])
            result.value = state
        }
        return try #require(result.value)
    }

    final class Mutable<Value> {
        var value: Value
        init(_ value: Value) { self.value = value }
    }

    @Test func `An end before the purchase is stored, an anomaly, and gives no access`() async throws {
        let state = try await Self.expect(.expiryBeforePurchase) {
            $0.transaction?.expiresDate = Fixtures.epoch.addingTimeInterval(-100)
        }
        #expect(state.state(at: Fixtures.epoch.addingTimeInterval(-200)) == .expired)
    }

    @Test func `A renewal info of another product is stored and an anomaly`() async throws {
        let state = try await Self.expect(.renewalOfOtherProduct) { $0.renewal?.productId = "silver" }
        #expect(state.renewal?.productId == "silver")
    }

    @Test func `A renewal info of another purchase is an anomaly and ignored`() async throws {
        let state = try await Self.expect(.renewalOfOtherPurchase) { $0.renewalOriginalTransactionId = "2" }
        #expect(state.renewal == nil)
    }

    @Test func `A price below zero is stored and an anomaly`() async throws {
        let state = try await Self.expect(.negativePrice) { $0.transaction?.priceMilliunits = .min }
        #expect(state.transaction?.priceMilliunits == .min)
    }

    @Test func `A quantity of zero is stored and an anomaly`() async throws {
        let state = try await Self.expect(.quantityBelowOne) { $0.transaction?.quantity = 0 }
        #expect(state.transaction?.quantity == 0)
    }

    @Test(arguments: [-62_135_596_800, 253_402_300_799])
    func `A date of the year 1 or 9999 is stored and an anomaly`(seconds: Double) async throws {
        let date = Date(timeIntervalSince1970: seconds)
        let state = try await Self.expect(.implausibleDate) { $0.transaction?.originalPurchaseDate = date }
        #expect(state.transaction?.originalPurchaseDate == date)
    }

    @Test func `An unknown type of notification counts and is an anomaly`() async throws {
        let state = try await Self.expect(.unknownEvent) {
            $0.notificationType = "NEVER_HEARD_OF"
            $0.subtype = nil
        }
        #expect(state.status == 1)
    }

    @Test func `A megabyte of text is stored where it is no key`() async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            let text = String(repeating: "🦆", count: 262_144)
            let (state, _) = try await Self.applied(connection) { $0.transaction?.offerIdentifier = text }
            #expect(state?.transaction?.offerIdentifier == text)
        }
    }

    @Test func `A message about a megabyte of text is small, also where all of it is one character`() async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            let text = "e" + String(repeating: "\u{301}", count: 500_000)
            _ = try await Self.applied(connection) { $0.transaction?.offerIdentifier = text }
            let sizes = try await OutboxStore(connection).changes().map { $0.message.record().value.count }
            #expect(sizes.count == 1 && sizes.allSatisfy { $0 < 100_000 }, "\(sizes)")
        }
    }

    @Test func `A key of a megabyte, and NUL anywhere, is rejected before it reaches the database`() {
        var fixtures = Fixtures(seed: 301)
        let changes: [(inout LedgerEntry) -> Void] = [
            { $0.originalTransactionId = String(repeating: "7", count: 1_000_000) },
            { $0.event?.transaction?.appTransactionId = String(repeating: "a", count: 513) },
            { $0.event?.transaction?.previousOriginalTransactionId = String(repeating: "7", count: 513) },
            { $0.notificationType = String(repeating: "A", count: 1_000_000) },
            { $0.notificationType = "A\0B" },
            { $0.decodedPayload = "{\"a\":\"\0\"}" },
            { $0.event?.renewal?.offerIdentifier = "\0" },
        ]
        for change in changes {
            var entry = fixtures.entry()
            while entry.event?.transaction == nil || entry.event?.renewal == nil { entry = fixtures.entry() }
            #expect(entry.fault == nil)
            change(&entry)
            #expect(entry.fault != nil)
        }
    }

    @Test func `Keys of the maximum length are stored`() async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            var fixtures = Fixtures(seed: 302)
            // Random characters, because an index compresses texts.
            func name() -> String {
                let letters = (0..<512).map { _ in UInt8.random(in: 65...90, using: &fixtures.generator) }
                return String(decoding: letters, as: UTF8.self)
            }
            var entry = fixtures.entry()
            let id = name()
            let type = name()
            entry.originalTransactionId = id
            entry.notificationType = type
            let subtype = name()
            entry.subtype = subtype
            entry.event?.key.originalTransactionId = id
            entry.event?.notificationType = type
            entry.event?.subtype = subtype
            entry.event?.bundleId = name()
            entry.event?.transaction = TransactionFacts(
                transactionId: name(), productId: "p", productType: "t",
                signedDate: Fixtures.epoch, appTransactionId: name())
            #expect(entry.fault == nil)
            _ = try await LedgerStore(connection).apply(
                [entry], moving: [Fixtures.move(0, 1)], recordedAt: Fixtures.now)
            try await StateReadBackTests.expectEqualStates(after: [entry], connection)
        }
    }

    @Test func `A transaction id in two environments is two transactions`() async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            var fixtures = Fixtures(seed: 303)
            let entries = [StoreEnvironment.production, .sandbox].map { environment in
                var entry = fixtures.entry(purchases: 1, environment: environment)
                entry.event?.transaction = TransactionFacts(
                    transactionId: "1", productId: environment.rawValue, productType: "t", signedDate: Fixtures.epoch)
                return entry
            }
            _ = try await LedgerStore(connection).apply(
                entries, moving: [Fixtures.move(0, 2)], recordedAt: Fixtures.now)
            for entry in entries {
                let key = try #require(entry.event?.key)
                let products = try await TransactionStore(connection).transactions(of: key).map(\.productId)
                #expect(products == [entry.environment.rawValue])
            }
        }
    }

    @Test func `A notification of another app for a known purchase counts and is an anomaly`() async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            var fixtures = Fixtures(seed: 304)
            let entries = ["com.example.app", "com.example.thief"].map { app in
                var entry = fixtures.entry(purchases: 1)
                entry.bundleId = app
                entry.event?.bundleId = app
                return entry
            }
            _ = try await LedgerStore(connection).apply(
                entries, moving: [Fixtures.move(0, 2)], recordedAt: Fixtures.now)
            let key = try #require(entries[0].event?.key)
            #expect(try await AnomalyStore(connection).anomalies(of: key).contains(.otherApp))
        }
    }

    @Test func `Other content under a known notificationUUID is stored beside the first, each content once`()
        async throws
    {
        try await LedgerStoreTests.use { connection, _ async throws in
            var fixtures = Fixtures(seed: 305)
            let entry = fixtures.entry()
            var other = entry
            other.decodedPayload = "{\"other\": true}"
            other.notification.original = SignedOriginal(encoding: [1, 2, 3])
            _ = try await LedgerStore(connection).apply(
                [entry, other, other, entry], moving: [Fixtures.move(0, 4)], recordedAt: Fixtures.now)
            let kept = try await NotificationStore(connection).conflicts(with: entry.notificationUUID)
            #expect(kept.map(\.decoded) == [other.decodedPayload])
            #expect(kept.map(\.signedOriginal) == [[1, 2, 3]])
        }
    }
}
