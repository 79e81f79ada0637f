import AppStore
import Contracts
import Storage
import Subscriptions

import struct Foundation.Date

/// A signed transaction or renewal info of Apple's API.
struct SignedObject: Sendable, Equatable {
    /// As Apple signed it.
    var jws: [UInt8]
    /// Of a transaction that is verified.
    var transactionId: String?
    /// What Apple answered beside it, if it is from Get All Subscription Statuses.
    var status: AnsweredStatus?
}

/// What Apple's API has of one customer and the ledger does not.
struct CustomerHistory: Sendable {
    let request: RecoveryRequest
    /// Apple's notification history, compared with the ledger.
    var notifications: [ComparedItem] = []
    /// Signed transactions and renewal infos with unknown facts.
    var signedObjects: [SignedObject] = []
    /// Revision from which the next transaction history continues.
    var revision: String?
    /// Queries that Apple rejected while it answered others.
    var rejections: [String] = []

    var key: SubscriptionKey { request.key }

    /// The messages for the pipeline, received at `time`.
    /// - Parameter traceparent: makes the header of each.
    func received(at time: Date, _ traceparent: () -> String? = { nil }) -> [ReceivedNotification] {
        notifications.filter { $0.state == .missing }.map {
            ReceivedNotification(
                signedPayload: $0.item.signedPayload, source: .history, receivedAt: time, traceparent: traceparent())
        }
            + signedObjects.map {
                ReceivedNotification(
                    signedPayload: $0.jws, source: .history, receivedAt: time, bundleId: request.bundleId,
                    status: $0.status, traceparent: traceparent())
            }
    }

    var attempts: [RecordedAttempt] {
        notifications.filter { $0.isWorthKeeping }.flatMap {
            $0.item.recordedAttempts(of: $0.uuid, request.environment, request.bundleId)
        }
    }

    /// The history as a database row.
    func answer(at time: Date) -> RecoveryAnswer {
        RecoveryAnswer(
            key: key, bundleId: request.bundleId, before: request.before, outcome: "answered",
            message: rejections.isEmpty ? nil : rejections.joined(separator: "; ").storable,
            notifications: Int64(notifications.count),
            missing: Int64(notifications.filter { $0.state == .missing }.count),
            signedObjects: Int64(signedObjects.count),
            revision: revision, answeredAt: time)
    }
}

extension RecoveryRequest {
    fileprivate var key: SubscriptionKey {
        SubscriptionKey(environment: environment, originalTransactionId: originalTransactionId)
    }

    /// The database row of a request without result.
    func unanswered(_ reason: CustomerHistoryReason, _ message: String?, at time: Date) -> RecoveryAnswer {
        RecoveryAnswer(
            key: key, bundleId: bundleId, before: before, outcome: reason.rawValue, message: message, answeredAt: time)
    }
}
