import AppStore
import Contracts
import Storage
import Subscriptions

import struct Foundation.Date

/// What Apple knows of one customer and the ledger lacks.
struct Findings: Sendable {
    let request: RecoveryRequest
    /// Of Apple's notification history, compared.
    var notifications: [ComparedItem] = []
    /// Transactions and renewal information with facts that are not known.
    var parts: [[UInt8]] = []
    /// Where Apple's next answer about transactions begins.
    var revision: String?
    /// What Apple would not tell, though it told other things.
    var refusals: [String] = []

    var key: SubscriptionKey { request.key }

    /// What goes back onto the line, as it arrived at a time.
    /// - Parameter traceparent: makes the header of each.
    func received(at time: Date, _ traceparent: () -> String? = { nil }) -> [ReceivedNotification] {
        notifications.filter { $0.state == .missing }.map {
            ReceivedNotification(
                signedPayload: $0.item.signedPayload, source: .history, receivedAt: time, traceparent: traceparent())
        }
            + parts.map {
                ReceivedNotification(
                    signedPayload: $0, source: .history, receivedAt: time, bundleId: request.bundleId,
                    traceparent: traceparent())
            }
    }

    var attempts: [RecordedAttempt] {
        notifications.filter { $0.isWorthKeeping }.flatMap {
            $0.item.recordedAttempts(of: $0.uuid, request.environment, request.bundleId)
        }
    }

    /// As it is written down.
    func answer(at time: Date) -> RecoveryAnswer {
        RecoveryAnswer(
            key: key, bundleId: request.bundleId, before: request.before, outcome: "answered",
            message: refusals.isEmpty ? nil : refusals.joined(separator: "; ").storable,
            notifications: Int64(notifications.count),
            missing: Int64(notifications.filter { $0.state == .missing }.count), parts: Int64(parts.count),
            revision: revision, answeredAt: time)
    }
}

extension RecoveryRequest {
    fileprivate var key: SubscriptionKey {
        SubscriptionKey(environment: environment, originalTransactionId: originalTransactionId)
    }

    /// That there is no answer, and why, as it is written down.
    func unanswered(_ reason: AskReason, _ message: String?, at time: Date) -> RecoveryAnswer {
        RecoveryAnswer(
            key: key, bundleId: bundleId, before: before, outcome: reason.rawValue, message: message, answeredAt: time)
    }
}
