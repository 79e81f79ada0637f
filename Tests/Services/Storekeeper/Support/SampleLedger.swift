import Contracts
import Foundation
import Postgres
import Records
import Storage
import Subscriptions
import TestSupport

/// A few notifications in a database.
struct SampleLedger {
    let connection: PostgresConnection

    static let bought = UUID(uuid: (1, 1, 1, 1, 1, 1, 0x41, 1, 0x81, 1, 1, 1, 1, 1, 1, 1))
    static let renewed = UUID(uuid: (2, 2, 2, 2, 2, 2, 0x42, 2, 0x82, 2, 2, 2, 2, 2, 2, 2))
    static let strange = UUID(uuid: (3, 3, 3, 3, 3, 3, 0x43, 3, 0x83, 3, 3, 3, 3, 3, 3, 3))
    static let purchase = "2000000000000001"

    /// Two of one purchase in production, and one in the sandbox whose type steers a terminal.
    static func fill(_ database: PostgresConfiguration) async throws -> SampleLedger {
        let ledger = SampleLedger(connection: TestDatabase.connection(database))
        let start = CommandOutcome.now.addingTimeInterval(-3600)
        try await ledger.add(bought, "SUBSCRIBED", "INITIAL_BUY", at: start, product: "pro.monthly")
        try await ledger.add(renewed, "DID_RENEW", nil, at: start.addingTimeInterval(60), product: "pro.yearly")
        try await ledger.add(
            strange, "NEW\u{1B}[2J", nil, at: start.addingTimeInterval(120), environment: .sandbox, purchase: "7")
        return ledger
    }

    private static func payload(_ uuid: String, _ words: String?, _ purchase: String, _ product: String?) -> String {
        var members = [#""notificationUUID":"\#(uuid)""#, #""price":1.10"#]
        if let words { members.append(#""words":"\#(words)""#) }
        if let product {
            let transaction = [
                "transactionId": purchase, "originalTransactionId": purchase, "productId": product,
                "type": "Auto-Renewable Subscription",
            ].map { #""\#($0)":"\#($1)""# }.sorted().joined(separator: ",")
            members.append(#""data":{"signedTransactionInfo":{\#(transaction)}}"#)
        }
        return "{\(members.joined(separator: ","))}"
    }

    /// Records one, as if it had been received two seconds before.
    func add(
        _ uuid: UUID, _ type: String, _ subtype: String?, at date: Date, product: String? = nil,
        environment: StoreEnvironment = .production, purchase: String = Self.purchase, transaction: String? = nil,
        migratedFrom previous: String? = nil, commitment: String? = nil, words: String? = nil
    ) async throws {
        let key = SubscriptionKey(environment: environment, originalTransactionId: purchase)
        let news = product.map { product in
            PurchaseEvent(
                key: key, version: EventVersion(signedDate: date, notificationUUID: uuid), bundleId: "com.example.app",
                notificationType: type, subtype: subtype, status: 1,
                transaction: TransactionFacts(
                    transactionId: transaction ?? purchase, productId: product,
                    productType: "Auto-Renewable Subscription", purchaseDate: transaction.map { _ in date },
                    signedDate: date,
                    previousOriginalTransactionId: previous, commitmentInfo: commitment), renewal: nil)
        }
        let name = uuid.uuidString.lowercased()
        let entry = LedgerEntry(
            notificationUUID: uuid, notificationType: type, subtype: subtype, environment: environment,
            bundleId: "com.example.app", appAppleId: 1, originalTransactionId: purchase, transactionId: purchase,
            signedDate: date, receivedAt: date, source: .webhook,
            decodedPayload: Self.payload(name, words, purchase, product),
            signedPayload: Array("head.\(name)\(words ?? "").tail".utf8), event: news,
            position: LogPosition(topic: Topics.unique.name, partition: 0, offset: 0))
        _ = try await LedgerStore(connection).apply([entry], moving: [], recordedAt: date.addingTimeInterval(2))
    }
}
