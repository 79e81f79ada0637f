import Contracts
import Foundation
import Postgres
import Records
import Storage
import Subscriptions
import TestSupport
import Testing

@testable import Storekeeper

/// What subscribers pay, whose price changes, and redeemed offer codes.
struct PricesTests {
    private static func add(
        _ id: String, bought days: Double, price: Int64, next: Int64? = nil, consent: Int? = nil, code: String? = nil,
        ownership: String? = nil, length: Double = 365, _ connection: PostgresConnection
    ) async throws {
        let start = CommandOutcome.now.addingTimeInterval(-days * 86_400)
        let uuid = UUID()
        let event = PurchaseEvent(
            key: SubscriptionKey(environment: .production, originalTransactionId: id),
            version: EventVersion(signedDate: start, notificationUUID: uuid), bundleId: "com.example.app",
            notificationType: "SUBSCRIBED", subtype: "INITIAL_BUY", status: 1,
            transaction: TransactionFacts(
                transactionId: id, productId: "pro.yearly", productType: "Auto-Renewable Subscription",
                purchaseDate: start, originalPurchaseDate: start,
                expiresDate: start.addingTimeInterval(length * 86_400), ownership: ownership,
                offerType: code.map { _ in 3 },
                offerIdentifier: code, priceMilliunits: price, currency: "EUR", signedDate: start, storefront: "DEU"),
            renewal: RenewalFacts(
                autoRenewStatus: true, priceIncreaseStatus: consent, signedDate: start, productId: "pro.yearly",
                renewalPriceMilliunits: next, currency: "EUR"))
        let entry = LedgerEntry(
            notificationUUID: uuid, notificationType: "SUBSCRIBED", subtype: "INITIAL_BUY", environment: .production,
            bundleId: "com.example.app", appAppleId: 1, originalTransactionId: id, transactionId: id,
            signedDate: start, receivedAt: start.addingTimeInterval(47_000), source: .webhook, decodedPayload: "{}",
            signedPayload: Array("head.\(id).tail".utf8), event: event,
            position: LogPosition(topic: Topics.unique.name, partition: 0, offset: 0))
        _ = try await LedgerStore(connection).apply([entry], moving: [], recordedAt: start.addingTimeInterval(47_002))
    }

    private static func run(_ arguments: String..., on database: PostgresConfiguration) async -> CommandOutcome {
        await database.run(arguments)
    }

    @Test func `products tells who stays at an old price, whose price changes, and which codes were redeemed`()
        async throws
    {
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            try await Self.add("1", bought: 100, price: 79_990, next: 99_990, consent: 0, connection)
            // PRICE_CHANGE of Advanced Commerce: Apple asks for no consent.
            try await Self.add("2", bought: 90, price: 79_990, next: 89_990, connection)
            try await Self.add("3", bought: 10, price: 99_990, next: 99_990, connection)
            try await Self.add("4", bought: 5, price: 0, next: 99_990, code: "SPRING", connection)
            // Paid for by other purchases.
            try await Self.add("5", bought: 4, price: 79_990, ownership: "ASSIGNED", connection)
            try await Self.add("6", bought: 4, price: 79_990, ownership: "FAMILY_SHARED", connection)
            struct Price: Decodable {
                var price: String
                var monthly: String?
                var subscriptions: Int
                var isOldPrice: Bool
            }
            let prices: [Price] = try await Self.run("products", "prices", "--json", on: database).json()
            #expect(prices.map(\.price) == ["79.990", "99.990"] && prices.map(\.subscriptions) == [2, 1])
            #expect(prices.map(\.isOldPrice) == [true, false] && prices.map(\.monthly) == ["6.666", "8.333"])
            struct OldPrice: Decodable {
                var originalTransactionId: String
                var price: String
                var newestPrice: String
            }
            let old: [OldPrice] = try await Self.run("products", "old-prices", "--json", on: database).json()
            #expect(old.map(\.originalTransactionId) == ["1", "2"])
            #expect(old.allSatisfy { $0.price == "79.990" && $0.newestPrice == "99.990" })
            let first: [OldPrice] = try await Self.run("products", "old-prices", "--limit", "1", "--json", on: database)
                .json()
            #expect(first.map(\.originalTransactionId) == ["1"])
            let sandbox = await Self.run("products", "old-prices", "--environment", "Sandbox", on: database)
            #expect(sandbox.text.contains("No subscription stays at an older price"))
            let changes = await Self.run("products", "price-changes", "--app", "com.example.app", on: database)
            #expect(changes.text.contains("pending") && changes.text.contains("79.990"), "\(changes.text)")
            #expect(!changes.text.contains("agreed") && changes.code == 0)
            struct Change: Decodable {
                var originalTransactionId: String
                var effectiveAt: String
                var oldPrice: String
                var newPrice: String
                var consent: String
            }
            let changing: [Change] = try await Self.run("products", "price-changes", "--json", on: database).json()
            #expect(changing.map(\.originalTransactionId) == ["1", "2"])
            #expect(changing.map(\.consent) == ["pending", "not asked"])
            #expect(changing.map(\.oldPrice) == ["79.990", "79.990"])
            #expect(changing.map(\.newPrice) == ["99.990", "89.990"])
            #expect(changing.map { $0.effectiveAt.prefix(10) } == ["2026-07-01", "2026-07-11"])
            let codes = await Self.run("products", "offer-codes", on: database)
            #expect(codes.text.contains("SPRING"), "\(codes.text)")
            let none = await Self.run("products", "offer-codes", "--from", "1d", "--to", "1h", on: database)
            #expect(none.text.contains("No offer code was redeemed"))
            let purchase = await Self.run("events", "purchase", "1", on: database)
            #expect(purchase.text.contains("first 79.990 EUR from"), "\(purchase.text)")
            #expect(purchase.text.contains("next 99.990 EUR"))
            #expect(purchase.text.contains("message      priceIncreaseConsent: a price increase needs consent"))
            // Received thirteen hours after Apple signed it.
            let events = await Self.run("events", "list", "--purchase", "1", on: database)
            #expect(events.text.contains("13 h 3 min"), "\(events.text)")
            struct Listed: Decodable { var notificationUUID: String }
            let list = await Self.run("events", "list", "--purchase", "1", "--json", on: database)
            let listed: [Listed] = try list.json()
            let shown = await Self.run("events", "show", try #require(listed.first).notificationUUID, on: database)
            #expect(shown.text.contains("by 13 h 3 min: an earlier attempt of Apple's failed"), "\(shown.text)")
        }
    }
}
