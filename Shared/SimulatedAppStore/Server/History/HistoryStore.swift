import Foundation
import Synchronization

/// What Apple's history holds: every genuine notification with its attempts, and the state of every purchase.
///
/// Forgeries are not part of it. Signed objects are kept as ``SealedPayload``s, so that a hundred thousand notifications take
/// about 400 MB; beyond ``limit`` the oldest are dropped.
final class HistoryStore: Sendable {
    /// Notifications per app and environment.
    let limit: Int
    private let histories = Mutex<[App: AppHistory]>([:])

    /// - Parameter limit: maximum number of notifications per app and environment, at least 1.
    init(limit: Int) { self.limit = limit }

    /// Notes an event of a purchase. Called in the order of each purchase's events, before the notification is sent.
    func note(_ event: EventPayload) { withHistory(of: event.app) { $0.note(event) } }

    /// An attempt begins.
    /// - Parameter now: read under the lock, so that first attempts are in the order of their time.
    /// - Returns: the time of the attempt.
    func begin(_ delivery: NotificationDelivery, at now: @Sendable () -> Date) -> Date {
        guard delivery.notification.entry.expectedRejection == nil, delivery.attempt == 1, !delivery.isRepetition else {
            return now()
        }
        return withHistory(of: delivery.notification.app) { [limit] in
            let date = now()
            $0.add(SentNotification(delivery.notification, firstAttempt: date), limit: limit)
            return date
        }
    }

    /// An attempt ended. A deliberate repetition is not one of Apple's attempts.
    func end(_ delivery: NotificationDelivery, _ answer: Answer, sentAt date: Date) {
        guard delivery.notification.entry.expectedRejection == nil, !delivery.isRepetition else { return }
        let attempt = DeliveryAttempt(date: date, result: DeliveryAttempt.Result(answer))
        withHistory(of: delivery.notification.app) { $0.add(attempt, to: delivery.notification.entry.uuid) }
    }

    /// The history of an app in an environment; empty for an unknown one.
    func withHistory<Result>(of app: App, _ body: (inout AppHistory) throws -> Result) rethrows -> Result {
        try histories.withLock { try body(&$0[app, default: AppHistory()]) }
    }

    /// All apps with a history.
    var apps: [App] { histories.withLock { Array($0.keys) } }
}
