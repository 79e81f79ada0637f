import Contracts
import Foundation
import Postgres
import Records
import Storage
import Subscriptions
import TestSupport

/// Purchases in the database, written as the state-updater writes them.
struct SampleState {
    static let account = "7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7b"
    static let app = "com.example.app"
    static let purchase = "2000000000000001"

    let connection: PostgresConnection
    /// The clock of the service under test.
    let now: Date

    static func use<Value>(
        _ api: RunningAPI, isolation: isolated (any Actor)? = #isolation,
        _ body: (SampleState) async throws -> Value
    ) async throws -> Value {
        let connection = TestDatabase.connection(api.database)
        let value = try await body(SampleState(connection: connection, now: api.clock.now))
        await connection.close()
        return value
    }

    /// An API, and the state of its database.
    static func with(
        isolation: isolated (any Actor)? = #isolation, _ body: (RunningAPI, SampleState) async throws -> Void
    ) async throws {
        try await RunningAPI.with { api in try await use(api) { state in try await body(api, state) } }
    }

    /// A period of a subscription, in seconds from now.
    /// - Returns: the notification that told.
    @discardableResult
    func subscribed(
        _ type: String = "SUBSCRIBED", _ subtype: String? = "INITIAL_BUY", from start: Double = -100,
        to end: Double = 1000, status: Int = 1, purchase: String = Self.purchase, transaction: String? = nil,
        account: String? = Self.account, environment: StoreEnvironment = .sandbox, bundleId: String = Self.app,
        signed: Double? = nil, revoked: Double? = nil, consent: Int? = nil, decoded: String = "{}"
    ) async throws -> UUID {
        let uuid = UUID()
        let signedAt = now.addingTimeInterval(signed ?? start)
        let event = PurchaseEvent(
            key: SubscriptionKey(environment: environment, originalTransactionId: purchase),
            version: EventVersion(signedDate: signedAt, notificationUUID: uuid), bundleId: bundleId,
            notificationType: type, subtype: subtype, status: status,
            transaction: TransactionFacts(
                transactionId: transaction ?? purchase, productId: "pro.monthly",
                productType: "Auto-Renewable Subscription", subscriptionGroupIdentifier: "g",
                purchaseDate: now.addingTimeInterval(start), expiresDate: now.addingTimeInterval(end),
                appAccountToken: account, revocationDate: revoked.map { now.addingTimeInterval($0) },
                signedDate: signedAt),
            renewal: RenewalFacts(autoRenewStatus: true, priceIncreaseStatus: consent, signedDate: signedAt))
        let entry = LedgerEntry(
            notificationUUID: uuid, notificationType: type, subtype: subtype, environment: environment,
            bundleId: bundleId, appAppleId: 1, originalTransactionId: purchase,
            transactionId: transaction ?? purchase, signedDate: signedAt, receivedAt: signedAt, source: .webhook,
            decodedPayload: decoded, signedPayload: Array("head.\(uuid.uuidString.lowercased()).tail".utf8),
            event: event,
            position: LogPosition(topic: Topics.unique.name, partition: 0, offset: 0))
        _ = try await LedgerStore(connection).apply([entry], moving: [], recordedAt: signedAt.addingTimeInterval(2))
        return uuid
    }
}
