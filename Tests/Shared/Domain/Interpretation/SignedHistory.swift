import AppStore
import Contracts
import Development
import Foundation
import Pipeline
import Records
import Signatures
import Storage
import TestSupport

@testable import StateUpdater
@testable import Verifier

/// The signed notifications of one simulated subscription, and the transactions and renewal infos in them, as Apple's API or
/// the app provides them.
struct SignedHistory {
    static let bundleId = "com.example.app"
    static let now = Date(timeIntervalSince1970: 1_780_000_000)
    static let authority = Result { try DevelopmentAuthority(now: now) }

    /// The notifications as compact JWS.
    var notifications: [[UInt8]] = []
    /// The transactions and renewal infos in the notifications, as compact JWS.
    var signedObjects: [[UInt8]] = []

    private static let eventTypes: [(NotificationType, NotificationSubtype?, SubscriptionStatus?)] = [
        (.subscribed, .initialBuy, .active), (.didRenew, nil, .active),
        (.didChangeRenewalStatus, .autoRenewDisabled, .active), (.didChangeRenewalStatus, .autoRenewEnabled, .active),
        (.didFailToRenew, nil, .billingRetry), (.didRenew, .billingRecovery, .active), (.expired, .voluntary, .expired),
        (.refund, nil, .revoked), (.refundReversed, nil, .active), (.consumptionRequest, nil, nil),
    ]

    init(seed: UInt64, length: Int = 9) throws {
        var generator = SeededGenerator(state: seed)
        let signer = PayloadSigner(authority: try Self.authority.get())
        for index in 0..<length {
            // Few different dates, so that the id decides between equal ones.
            let signedDate = Self.now.addingTimeInterval(Double(Int.random(in: 0..<6, using: &generator) - 6) * 86_400)
            let (type, subtype, status) = Self.eventTypes[Int.random(in: 0..<10, using: &generator)]
            let period = Int.random(in: 0..<3, using: &generator)
            var transaction = JWSTransactionDecodedPayload()
            transaction.originalTransactionId = "1000"
            transaction.transactionId = "100\(period)"
            transaction.bundleId = Self.bundleId
            transaction.environment = .production
            transaction.productId = "gold.\(period)"
            transaction.type = .autoRenewableSubscription
            transaction.purchaseDate = Self.now.addingTimeInterval(Double(period - 3) * 86_400)
            transaction.expiresDate = Self.now.addingTimeInterval(Double(period - 2) * 86_400)
            transaction.revocationDate = type == .refund ? signedDate : nil
            transaction.signedDate = signedDate
            var renewal = JWSRenewalInfoDecodedPayload()
            renewal.originalTransactionId = "1000"
            renewal.autoRenewProductId = "gold.\(index)"
            renewal.productId = transaction.productId
            renewal.environment = .production
            renewal.isInBillingRetryPeriod = type == .didFailToRenew
            renewal.signedDate = signedDate
            var payload = ResponseBodyV2DecodedPayload()
            payload.notificationType = type
            payload.subtype = subtype
            payload.notificationUUID = Self.uuid(&generator)
            payload.signedDate = signedDate
            payload.version = "2.0"
            var data = NotificationData()
            data.bundleId = Self.bundleId
            data.appAppleId = 1
            data.environment = .production
            data.status = status
            signedObjects += [try signer.sign(transaction.json), try signer.sign(renewal.json)]
            data.signedTransactionInfo = String(decoding: signedObjects[signedObjects.count - 2], as: UTF8.self)
            data.signedRenewalInfo = String(decoding: signedObjects[signedObjects.count - 1], as: UTF8.self)
            payload.data = data
            notifications.append(try signer.sign(payload.json))
        }
    }

    private static func uuid(_ generator: inout SeededGenerator) -> String {
        String(
            format: "%08x-0000-4000-8000-%012x", UInt32.random(in: 1 ... .max, using: &generator),
            UInt32.random(in: 0 ... .max, using: &generator))
    }

    /// Runs payloads through the verifier and the state-updater, in their order.
    static func entries(_ payloads: [(jws: [UInt8], source: NotificationSource)]) async throws -> [LedgerEntry] {
        let verifier = SignedDataVerifier(
            trust: try TrustStore.apple.adding(rootsIn: Array(authority.get().rootPEM.utf8)),
            apps: AppRegistry(apps: [AcceptedApp(bundleId: bundleId, appAppleId: 1, environments: [.production])]))
        let position = LogPosition(topic: "t", partition: 0, offset: 0)
        let verified = try await Verify(verifier: { verifier }, now: { now }, cores: 1).process(
            payloads.map { payload in
                Delivery(
                    message: ReceivedNotification(
                        signedPayload: payload.jws, source: payload.source, receivedAt: now, bundleId: bundleId),
                    position: position)
            })
        let unique = try verified.map { result in
            guard case .forward(let verified) = result else { throw Rejected(result: "\(result)") }
            return Delivery(message: UniqueNotification(verified.record()), position: position)
        }
        return try await Update().process(unique).map { result in
            guard case .forward(let entry) = result else { throw Rejected(result: "\(result)") }
            return entry
        }
    }

    struct Rejected: Error {
        var result: String
    }

}
