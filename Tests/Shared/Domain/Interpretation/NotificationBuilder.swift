import AppStore
import Contracts
import Development
import Foundation
import Pipeline
import Postgres
import Records
import Signatures
import Storage
import Subscriptions
import TestSupport
import Testing

@testable import Deduplicator
@testable import StateUpdater
@testable import Verifier

/// Builds and signs a notification like Apple's; each test changes the fields that it is about.
struct NotificationBuilder {
    static let apps = ["com.example.app", "com.example.other"]
    static let now = SignedHistory.now

    var uuid = UUID()
    var app = Self.apps[0]
    var environment = AppStoreEnvironment.production
    var transaction = JWSTransactionDecodedPayload()
    var renewal: JWSRenewalInfoDecodedPayload? = JWSRenewalInfoDecodedPayload()
    var payload = ResponseBodyV2DecodedPayload()
    var data = NotificationData()
    /// Further members of the transaction as JSON text, for values that no property can hold.
    var oddTransaction = ""
    /// Further members of the renewal info as JSON text.
    var oddRenewal = ""

    init() {
        transaction.originalTransactionId = "1000"
        transaction.transactionId = "1001"
        transaction.productId = "gold"
        transaction.type = .autoRenewableSubscription
        transaction.purchaseDate = Self.now.addingTimeInterval(-86_400)
        transaction.expiresDate = Self.now.addingTimeInterval(86_400)
        transaction.price = 9990
        transaction.quantity = 1
        transaction.signedDate = Self.now
        renewal?.originalTransactionId = "1000"
        renewal?.productId = "gold"
        renewal?.autoRenewProductId = "gold"
        renewal?.signedDate = Self.now
        payload.notificationType = .didRenew
        payload.signedDate = Self.now
        payload.version = "2.0"
        data.status = .active
    }

    /// The compact JWS.
    func signed() throws -> [UInt8] {
        let signer = PayloadSigner(authority: try SignedHistory.authority.get())
        var (transaction, renewal, data, payload) = (transaction, renewal, data, payload)
        transaction.bundleId = app
        transaction.environment = environment
        renewal?.environment = environment
        data.bundleId = app
        data.appAppleId = environment == .production ? Int64(1 + (Self.apps.firstIndex(of: app) ?? 0)) : nil
        data.environment = environment
        data.signedTransactionInfo = String(
            decoding: try signer.sign(transaction.json.dropLast() + Array("\(oddTransaction)}".utf8)), as: UTF8.self
        )
        data.signedRenewalInfo = try renewal.map {
            String(decoding: try signer.sign($0.json.dropLast() + Array("\(oddRenewal)}".utf8)), as: UTF8.self)
        }
        payload.notificationUUID = uuid.uuidString.lowercased()
        payload.data = data
        return try signer.sign(payload.json)
    }
}

extension NotificationBuilder {
    /// The store that a notification reached, or the stage that rejected it, with the reason.
    enum Outcome: Equatable {
        case ledger
        case verifier(String)
        case deduplicator(String)
        case stateUpdater(String)
    }

    /// Runs notifications, one after the other, through the verifier, the deduplicator, the state-updater and the ledger.
    static func run(_ notifications: [[UInt8]], _ connection: PostgresConnection) async throws -> [Outcome] {
        let verifier = SignedDataVerifier(
            trust: try TrustStore.apple.adding(rootsIn: Array(SignedHistory.authority.get().rootPEM.utf8)),
            apps: AppRegistry(
                apps: apps.enumerated().map { number, app in
                    AcceptedApp(
                        bundleId: app, appAppleId: Int64(number + 1), environments: [.production, .sandbox])
                }))
        let deduplicator = Deduplicate(seen: SeenNotificationStore(connection), now: { now })
        var outcomes: [Outcome] = []
        for (offset, notification) in notifications.enumerated() {
            let position = LogPosition(topic: "t", partition: 0, offset: Int64(offset))
            let received = ReceivedNotification(
                signedPayload: notification, source: .webhook, receivedAt: now, bundleId: nil)
            switch try await Verify(verifier: { verifier }, now: { now }, cores: 1)
                .process([Delivery(message: received, position: position)])[0]
            {
            case .forward(let verified):
                // Over the wire, as between the processes.
                let read = try VerifiedRecord(verified.record())
                switch try await deduplicator.process([Delivery(message: read, position: position)])[0] {
                case .forward(let unique):
                    switch Update().result(on: unique, at: position) {
                    case .forward(let entry):
                        _ = try await LedgerStore(connection).apply([entry], moving: [], recordedAt: now)
                        outcomes.append(.ledger)
                    case .deadLetter(let reason, _): outcomes.append(.stateUpdater(reason.rawValue))
                    case .discard(let reason): outcomes.append(.stateUpdater(reason.rawValue))
                    }
                case .deadLetter(let reason, _): outcomes.append(.deduplicator(reason.rawValue))
                case .discard(let reason): outcomes.append(.deduplicator(reason.rawValue))
                }
            case .deadLetter(let reason, _): outcomes.append(.verifier(reason.rawValue))
            case .discard(let reason): outcomes.append(.verifier(reason.rawValue))
            }
        }
        return outcomes
    }

    static func key(_ environment: StoreEnvironment = .production) -> SubscriptionKey {
        SubscriptionKey(environment: environment, originalTransactionId: "1000")
    }

    /// Expects that one notification reaches the ledger with exactly these anomalies.
    static func expect(
        _ anomalies: Set<Anomaly>, of change: (inout NotificationBuilder) -> Void,
        _ check: @Sendable (Subscription) -> Bool
    ) async throws {
        var notification = NotificationBuilder()
        change(&notification)
        let signed = try notification.signed()
        try await TestDatabase.connected { connection async throws in
            #expect(try await run([signed], connection) == [.ledger])
            let state = try #require(try await SubscriptionStore(connection).find(key()))
            #expect(check(state))
            #expect(try await Set(AnomalyStore(connection).anomalies(of: key())) == anomalies)
            let original = try await NotificationStore(connection).original(notification.uuid)
            #expect(original == signed)
        }
    }
}
