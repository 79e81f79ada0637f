import AppStore
import Contracts
import Foundation
import Interpretation
import Postgres
import Records
import Storage
import Subscriptions
import TestSupport

/// Ledgers of many purchases, from which a rebuild starts.
enum RebuildFixture {
    static let bundleId = "com.example.app"
    static let epoch = Date(timeIntervalSince1970: 1_750_000_000)

    static let events: [(NotificationType, NotificationSubtype?)] = [
        (.subscribed, .initialBuy), (.didRenew, nil), (.didChangeRenewalStatus, .autoRenewDisabled),
        (.didChangeRenewalStatus, .autoRenewEnabled), (.didFailToRenew, .gracePeriod), (.expired, .voluntary),
        (.refund, nil), (.refundReversed, nil), (.consumptionRequest, nil), (.priceIncrease, .pending),
    ]

    /// What the deduplicator would hand on: decoded payloads of few purchases, some of the same moment, and TESTs.
    static func notifications(
        _ count: Int, seed: UInt64, environment: AppStoreEnvironment = .production,
        kind: TransactionType = .autoRenewableSubscription
    ) -> [VerifiedNotification] {
        var generator = SeededGenerator(state: seed)
        return (0..<count).map { index in
            let purchase = "2\(Int.random(in: 0..<12, using: &generator))"
            let (type, subtype) = events[Int.random(in: 0..<10, using: &generator)]
            let signedDate = epoch.addingTimeInterval(Double(Int.random(in: 0..<30, using: &generator)) * 86_400)
            let period = Int.random(in: 0..<4, using: &generator)
            let isTest = index % 20 == 19
            var transaction = JWSTransactionDecodedPayload()
            transaction.originalTransactionId = purchase
            transaction.transactionId = "\(purchase)-\(period)"
            transaction.bundleId = bundleId
            transaction.productId = "gold.\(period)"
            transaction.type = kind
            transaction.subscriptionGroupIdentifier = "metals"
            transaction.purchaseDate = epoch.addingTimeInterval(Double(period) * 86_400 * 7)
            if kind == .autoRenewableSubscription {
                transaction.expiresDate = epoch.addingTimeInterval(Double(period + 1) * 86_400 * 7)
            }
            transaction.revocationDate = type == .refund ? signedDate : nil
            transaction.signedDate = signedDate
            transaction.appAccountToken =
                "7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7\(Int.random(in: 0..<3, using: &generator))"
            transaction.appTransactionId = index % 3 == 0 ? nil : "70\(purchase)"
            var renewal = JWSRenewalInfoDecodedPayload()
            renewal.originalTransactionId = purchase
            renewal.autoRenewProductId = "gold.\(index)"
            renewal.signedDate = signedDate
            var payload = ResponseBodyV2DecodedPayload()
            payload.notificationType = isTest ? .test : type
            payload.subtype = isTest ? nil : subtype
            let uuid = UUID(
                uuidString: String(
                    format: "%08x-0000-4000-8000-%012x", UInt32.random(in: 1 ... .max, using: &generator), index))
            payload.notificationUUID = uuid?.uuidString.lowercased()
            payload.signedDate = signedDate
            var data = NotificationData()
            data.bundleId = bundleId
            data.environment = environment
            data.status = .active
            if !isTest {
                data.signedTransactionInfo = "TRANSACTION"
                data.signedRenewalInfo = "RENEWAL"
            }
            payload.data = data
            let decoded = String(decoding: payload.json, as: UTF8.self)
                .replacingOccurrences(of: "\"TRANSACTION\"", with: String(decoding: transaction.json, as: UTF8.self))
                .replacingOccurrences(of: "\"RENEWAL\"", with: String(decoding: renewal.json, as: UTF8.self))
            return VerifiedNotification(
                notificationUUID: uuid ?? UUID(), notificationType: payload.notificationType?.rawValue ?? "",
                subtype: payload.subtype?.rawValue,
                environment: StoreEnvironment(rawValue: environment.rawValue) ?? .production, bundleId: bundleId,
                appAppleId: 1, originalTransactionId: isTest ? nil : purchase,
                transactionId: isTest ? nil : transaction.transactionId, signedDate: signedDate,
                receivedAt: epoch, source: .webhook, traceparent: nil, decoded: Array(decoded.utf8),
                signedPayload: Array("head.\(index).tail".utf8))
        }
    }

    static func entries(_ notifications: [VerifiedNotification]) throws -> [LedgerEntry] {
        try notifications.enumerated().map { offset, notification in
            try LedgerEntry(
                notification,
                position: LogPosition(topic: Topics.unique.name, partition: Int32(offset % 3), offset: Int64(offset)))
        }
    }

    static func apply(_ entries: [LedgerEntry], _ connection: PostgresConnection, from moment: Int = 0) async throws {
        for (number, start) in stride(from: 0, to: entries.count, by: 7).enumerated() {
            _ = try await LedgerStore(connection).apply(
                Array(entries[start..<min(start + 7, entries.count)]), moving: [],
                recordedAt: epoch.addingTimeInterval(Double(moment + number)))
        }
    }

    /// A database with purchases whose notifications came in disorder and with repetitions.
    static func use(
        seed: UInt64, _ body: @Sendable (PostgresConnection, PostgresConfiguration) async throws -> Void
    ) async throws {
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            var generator = SeededGenerator(state: seed)
            let told = notifications(160, seed: seed) + notifications(20, seed: seed + 1, environment: .sandbox)
            let repeated = told + told.filter { _ in Bool.random(using: &generator) }
            try await apply(entries(repeated.shuffled(using: &generator)), connection)
            try await body(connection, database)
            await connection.close()
        }
    }

    static func schemas(_ connection: PostgresConnection) async throws -> Int64 {
        let statement = Statement(
            unsafeSQL: "select count(*) as schemas from pg_namespace where nspname like '%rebuil%'")
        return try await connection.execute(statement)[0].value("schemas")
    }
}
