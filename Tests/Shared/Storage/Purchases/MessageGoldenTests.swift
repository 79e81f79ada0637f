import Contracts
import Foundation
import Postgres
import Records
import Subscriptions
import TestSupport
import Testing

@testable import Storage

/// The message of each type and subtype that Apple documents, and of each event without a notification, as a line of one file. A change
/// that fails this test changes what consumers read: members may be added, and nothing else.
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

    /// What Apple signed that was no notification, and the events of ``TimelineRow/withoutNotification``.
    private static func ownEvents(
        from number: Int, _ fixtures: inout Fixtures, _ connection: PostgresConnection
    ) async throws -> [SubscriptionChanged] {
        var messages: [SubscriptionChanged] = []
        var bought = try event(nil, number: number)
        (bought.notificationType, bought.subtype) = (SignedPart.transaction.rawValue, nil)
        (bought.status, bought.renewal) = (nil, nil)
        _ = try await TimelineStoreTests.apply(entry(bought, &fixtures), connection)
        messages.append(try await last(connection))

        let known = try event(nil, number: number + 1)
        _ = try await TimelineStoreTests.apply(entry(known, &fixtures), connection)
        var turnedOff = try event(.renewalTurnedOff, number: number + 1)
        (turnedOff.notificationType, turnedOff.subtype) = (SignedPart.renewalInfo.rawValue, nil)
        (turnedOff.status, turnedOff.transaction) = (nil, nil)
        _ = try await TimelineStoreTests.apply(entry(turnedOff, &fixtures), connection)
        messages.append(try await last(connection))

        for (place, name) in TimelineRow.withoutNotification.enumerated() {
            var beginning = try event(nil, number: number + 2 + place)
            switch name {
            case TimelineRow.accessEnded:
                beginning.transaction?.expiresDate = Fixtures.now.addingTimeInterval(3600)
                beginning.renewal?.renewalDate = beginning.transaction?.expiresDate
            case TimelineRow.productDurationSet:
                (beginning.notificationType, beginning.subtype) = ("ONE_TIME_CHARGE", nil)
                (beginning.status, beginning.renewal) = (nil, nil)
                beginning.transaction?.productId = "season.pass"
                beginning.transaction?.productType = "Non-Renewing Subscription"
                beginning.transaction?.expiresDate = nil
            default: break
            }
            _ = try await TimelineStoreTests.apply(entry(beginning, &fixtures), connection)
            switch name {
            case TimelineRow.accessEnded: try await endAccess(connection)
            case TimelineRow.productDurationSet:
                try await ProductStore(connection).setDurations(
                    ["season.pass": ProductDuration("P30D")], ofApp: beginning.bundleId)
                try await ProductStoreTests.finish(AccessRecalculation(connection))
            case TimelineRow.purchaseTransferred: try await transfer(beginning.key, connection)
            default: Issue.record("\(name) has no golden message")
            }
            var message = try await last(connection)
            #expect(message.event == name)
            // It has a random one, because no notification caused it.
            message.notificationUUID = try event(.renewed, number: number + 2 + place).version.notificationUUID
            messages.append(message)
        }
        return messages
    }

    private static func last(_ connection: PostgresConnection) async throws -> SubscriptionChanged {
        try #require(try await OutboxStore(connection).changes(limit: 1000).last?.message)
    }

    /// Two hours later, an hour after the end.
    private static func endAccess(_ connection: PostgresConnection) async throws {
        let ends = AccessEndStore(connection)
        // The first call stores where to begin.
        #expect(try await ends.next(patience: 600, at: Fixtures.now) == nil)
        let later = Fixtures.now.addingTimeInterval(2 * 3600)
        #expect(try await ends.next(patience: 600, at: later) == AccessEndStore.Batch(ends: 1, told: 1))
    }

    /// As a restore that was accepted.
    private static func transfer(_ key: SubscriptionKey, _ connection: PostgresConnection) async throws {
        let (app, moved) = ("com.example.app", Fixtures.now.addingTimeInterval(-day))
        let transfer = TransferStore.Transfer(
            key: key, bundleId: app, from: token, to: "0d5d1c4f-6a0e-4f0e-9b59-5e2f8f2f6c11", evidence: .signed,
            policy: .lastRestoreWins, outcome: .accepted, isCounted: true)
        try await connection.transaction { transaction in
            _ = try transaction.pipeline([TransferStore.command(adding: [transfer], at: moved, by: nil)])
            try OwnershipStore.decide(OwnershipChange([(key: key, bundleId: app)]), at: moved, in: transaction)
        }
        #expect(try await TransferStore(connection).announce(at: Fixtures.now) == 1)
    }

    @Test func `Page of webhooks names each event without a notification`() throws {
        let page = try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../../../Documentation/Webhooks.md").standardized, encoding: .utf8)
        let parts = SignedPart.allCases.filter { $0 != .appTransaction }.map(\.rawValue)
        for event in TimelineRow.withoutNotification + parts {
            #expect(page.contains("`purchase.\(event)`"), "\(event)")
        }
    }

    @Test func `Message of each type and subtype about a purchase is the golden one`() async throws {
        var fixtures = Fixtures(seed: 1400)
        let types = EventType.allCases.filter { !Self.others.contains($0) }
        let beginnings: Set<EventType> = [.subscribed, .subscribedByOffer, .boughtOnce]
        try await TestDatabase.connected { connection async throws in
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
            for message in try await Self.ownEvents(from: types.count, &fixtures, connection) {
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
