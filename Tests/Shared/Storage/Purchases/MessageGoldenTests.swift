import Contracts
import Foundation
import Postgres
import Records
import Subscriptions
import TestSupport
import Testing

@testable import Storage

/// The message of each type and subtype that Apple documents, as a line of one file. A change that fails this test changes what
/// consumers read: members may be added, and nothing else.
@Suite struct MessageGoldenTests {
    static let token = "7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7b"
    static let day = 86_400.0
    /// Types about no purchase.
    static let others: Set<EventType> = [
        .tested, .massExtensionDone, .massExtensionFailed, .tokenUnreported, .tokenCreated, .tokenReminder,
        .consentRescinded,
    ]

    /// An event of a purchase of its own: its beginning, or one that changes what Apple changes with the type.
    private static func event(_ type: EventType?, number: Int) throws -> PurchaseEvent {
        let words = (type ?? .subscribed).rawValue.split(separator: "/").map(String.init)
        let begin = Fixtures.now.addingTimeInterval(-10 * day)
        let signed = type == nil ? begin : Fixtures.now.addingTimeInterval(-day)
        let id = "2000\(number)"
        var transaction = TransactionFacts(
            transactionId: id, productId: "pro.monthly", productType: "Auto-Renewable Subscription",
            subscriptionGroupIdentifier: "g", purchaseDate: begin, originalPurchaseDate: begin,
            expiresDate: begin.addingTimeInterval(30 * day), appAccountToken: token, ownership: "PURCHASED",
            priceMilliunits: 9990, currency: "EUR", signedDate: signed, reason: "PURCHASE", storefront: "DEU")
        var renewal = RenewalFacts(
            autoRenewStatus: true, autoRenewProductId: "pro.monthly", isInBillingRetry: false,
            renewalDate: begin.addingTimeInterval(30 * day), signedDate: signed, productId: "pro.monthly",
            renewalPriceMilliunits: 9990, currency: "EUR")
        var status = 1
        func next(_ product: String) {
            transaction.transactionId = "\(id)1"
            (transaction.productId, renewal.productId, renewal.autoRenewProductId) = (product, product, product)
            (transaction.purchaseDate, transaction.reason) = (signed, "RENEWAL")
            transaction.expiresDate = signed.addingTimeInterval(30 * day)
            renewal.renewalDate = transaction.expiresDate
        }
        func end(_ intent: Int?, _ after: Int) {
            (transaction.expiresDate, status, renewal.expirationIntent) = (signed, after, intent)
            (renewal.autoRenewStatus, renewal.renewalDate) = (intent != 1, signed)
        }
        switch type {
        case nil, .subscribed, .subscribedByOffer: break
        case .resubscribed, .resubscribedByOffer, .offerRedeemed, .renewed, .billingRecovered, .migrated:
            next("pro.monthly")
            if type == .resubscribedByOffer || type == .offerRedeemed {
                (transaction.offerType, transaction.offerIdentifier) = (3, "spring")
                transaction.offerDiscountType = "PAY_UP_FRONT"
            }
        case .upgraded, .upgradedByOffer: next("pro.yearly")
        case .downgradeChosen, .downgradeChosenByOffer: renewal.autoRenewProductId = "basic.monthly"
        case .renewalTurnedOff: renewal.autoRenewStatus = false
        case .billingFailed, .graceEnded:
            end(nil, 3)
            renewal.isInBillingRetry = true
        case .billingFailedWithGrace:
            end(nil, 4)
            renewal.isInBillingRetry = true
            renewal.gracePeriodExpiresDate = Fixtures.now.addingTimeInterval(5 * day)
        case .expired: end(5, 2)
        case .expiredVoluntarily: end(1, 2)
        case .expiredInBillingRetry: end(2, 2)
        case .expiredOverPrice: end(3, 2)
        case .expiredUnsold: end(4, 2)
        case .priceIncreasePending: renewal.priceIncreaseStatus = 0
        case .priceIncreaseAccepted: renewal.priceIncreaseStatus = 1
        case .refunded, .familyAccessRevoked:
            (transaction.revocationDate, status) = (signed, 5)
            if type == .refunded { transaction.revocationReason = 1 } else { transaction.ownership = "FAMILY_SHARED" }
        case .extended:
            transaction.expiresDate = begin.addingTimeInterval(45 * day)
            renewal.renewalDate = transaction.expiresDate
        case .boughtOnce:
            transaction.productType = "Consumable"
            transaction.expiresDate = nil
        default: renewal.renewalPriceMilliunits = 12_990
        }
        return PurchaseEvent(
            key: SubscriptionKey(environment: .production, originalTransactionId: id),
            version: EventVersion(
                signedDate: signed,
                notificationUUID: try #require(
                    UUID(
                        uuidString:
                            "00000000-0000-4000-8000-\(String(format: "%012d", number * 2 + (type == nil ? 0 : 1)))"))
            ),
            bundleId: "com.example.app", notificationType: words[0], subtype: words.count > 1 ? words[1] : nil,
            status: type == .boughtOnce ? nil : status, transaction: transaction,
            renewal: type == .boughtOnce ? nil : renewal)
    }

    private static func entry(_ event: PurchaseEvent, _ fixtures: inout Fixtures) -> LedgerEntry {
        var entry = fixtures.entry(purchases: 1)
        entry.notificationUUID = event.version.notificationUUID
        (entry.notificationType, entry.subtype) = (event.notificationType, event.subtype)
        entry.originalTransactionId = event.key.originalTransactionId
        (entry.signedDate, entry.event) = (event.version.signedDate, event)
        return entry
    }

    @Test func `Message of each type and subtype about a purchase is the golden one`() async throws {
        var fixtures = Fixtures(seed: 1400)
        let types = EventType.allCases.filter { !Self.others.contains($0) }
        let beginnings: Set<EventType> = [.subscribed, .subscribedByOffer, .boughtOnce]
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            var lines = ""
            for (number, type) in types.enumerated() {
                if !beginnings.contains(type) {
                    let beginning = Self.entry(try Self.event(nil, number: number), &fixtures)
                    _ = try await TimelineStoreTests.apply(beginning, connection)
                }
                let applied = try await TimelineStoreTests.apply(
                    Self.entry(try Self.event(type, number: number), &fixtures), connection)
                #expect(applied.changes == 1, "\(type.rawValue)")
                let message = try #require(try await OutboxStore(connection).changes(limit: 1000).last?.message)
                #expect(message.event == type.rawValue)
                lines += String(decoding: message.record().value, as: UTF8.self) + "\n"
            }
            let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden/messages.jsonl")
            if ProcessInfo.processInfo.environment["WRITE_GOLDEN"] != nil {
                try FileManager.default.createDirectory(
                    at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
                try lines.write(to: file, atomically: true, encoding: .utf8)
            }
            #expect(try String(contentsOf: file, encoding: .utf8) == lines)
        }
    }
}
