import AppStore
import Contracts

import struct Foundation.Date
import struct Foundation.UUID

extension VerifiedNotification {
    /// Builds the message for `notifications.verified` from a proven payload; nil where the environment is neither
    /// Production nor Sandbox.
    public init?(_ proven: ProvenPart, _ received: ReceivedNotification) {
        guard let environment = (proven.environment?.rawValue).flatMap(StoreEnvironment.init) else { return nil }
        switch proven {
        case .notification(let proven):
            self.init(
                notificationUUID: proven.notificationUUID, notificationType: proven.notificationType,
                subtype: proven.subtype, environment: environment, bundleId: proven.bundleId,
                appAppleId: proven.appAppleId, originalTransactionId: proven.originalTransactionId,
                transactionId: proven.transactionId, signedDate: proven.signedDate, receivedAt: received.receivedAt,
                source: received.source, traceparent: received.traceparent, decoded: proven.decoded,
                signedPayload: received.signedPayload)
        case .transaction(let proven):
            guard let bundleId = proven.value.bundleId else { return nil }
            self.init(
                part: .transaction, of: bundleId, environment, purchase: proven.value.purchaseId,
                transactionId: proven.value.transactionId, signedDate: proven.signedDate,
                decoded: DecodedNotification.decoded(transaction: proven.decoded, status: received.unsignedStatus),
                received)
        case .renewalInfo(let proven, let bundleId):
            self.init(
                part: .renewalInfo, of: bundleId, environment, purchase: proven.value.originalTransactionId,
                transactionId: nil, signedDate: proven.signedDate,
                decoded: DecodedNotification.decoded(renewalInfo: proven.decoded, status: received.unsignedStatus),
                received)
        case .appTransaction(let proven):
            guard let bundleId = proven.value.bundleId else { return nil }
            self.init(
                part: .appTransaction, of: bundleId, environment, purchase: nil, transactionId: nil,
                signedDate: proven.signedDate, decoded: DecodedNotification.decoded(appTransaction: proven.decoded),
                received)
        }
    }

    /// Builds the message of an unsigned version 1 notification without its purchase, so that it changes no state.
    public init?(_ version1: Version1Notification, _ received: ReceivedNotification) {
        guard let environment = StoreEnvironment(rawValue: version1.environment.rawValue) else { return nil }
        self.init(
            notificationUUID: version1.identifier, notificationType: Self.version1Type,
            subtype: version1.notificationType, environment: environment, bundleId: version1.bundleId, appAppleId: nil,
            originalTransactionId: nil, transactionId: nil, signedDate: nil, receivedAt: received.receivedAt,
            source: received.source, traceparent: received.traceparent, decoded: version1.json, signedPayload: [])
    }

    private init?(
        part: SignedPart, of bundleId: String, _ environment: StoreEnvironment, purchase: String?,
        transactionId: String?, signedDate: Date?, decoded: [UInt8], _ received: ReceivedNotification
    ) {
        guard let id = CompactJWS(received.signedPayload[...])?.partIdentifier(with: received.unsignedStatus) else {
            return nil
        }
        self.init(
            notificationUUID: id, notificationType: part.rawValue, subtype: nil, environment: environment,
            bundleId: bundleId, appAppleId: nil, originalTransactionId: purchase, transactionId: transactionId,
            signedDate: signedDate, receivedAt: received.receivedAt, source: received.source,
            traceparent: received.traceparent, decoded: decoded, signedPayload: received.signedPayload)
    }
}

extension ReceivedNotification {
    /// The fetched status in the form in which it is stored.
    fileprivate var unsignedStatus: UnsignedStatus? {
        status.map { UnsignedStatus(status: SubscriptionStatus(rawValue: $0.status), date: $0.date) }
    }
}
