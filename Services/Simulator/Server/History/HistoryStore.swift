import Foundation
import Synchronization

/// What Apple remembers: every genuine notification with its attempts, and what is believed of every purchase.
///
/// Forgeries are not Apple's and never in it. What is signed in it is kept as ``SealedPayload``s, so that a hundred
/// thousand notifications take about 400 MB; beyond ``limit`` the oldest are forgotten.
final class HistoryStore: Sendable {
    /// Notifications per app and environment.
    let limit: Int
    private let histories = Mutex<[App: AppHistory]>([:])

    /// - Parameter limit: notifications remembered per app and environment, at least 1.
    init(limit: Int) { self.limit = limit }

    /// Something happened to a purchase. Called in the order of each purchase's events, before the notification is sent.
    func note(_ event: EventPayload) { withHistory(of: event.app) { $0.note(event) } }

    /// An attempt begins.
    /// - Parameter now: read under the lock, so that the first attempts stand in the order of their time.
    /// - Returns: the time of the attempt.
    func begin(_ delivery: Delivery, at now: @Sendable () -> Date) -> Date {
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
    func end(_ delivery: Delivery, _ answer: Answer, sentAt date: Date) {
        guard delivery.notification.entry.expectedRejection == nil, !delivery.isRepetition else { return }
        let attempt = DeliveryAttempt(date: date, result: DeliveryAttempt.Result(answer))
        withHistory(of: delivery.notification.app) { $0.add(attempt, to: delivery.notification.entry.uuid) }
    }

    /// What is remembered of an app in an environment; empty for one of which nothing is known.
    func withHistory<Result>(of app: App, _ body: (inout AppHistory) throws -> Result) rethrows -> Result {
        try histories.withLock { try body(&$0[app, default: AppHistory()]) }
    }

    /// All apps of which something is known.
    var apps: [App] { histories.withLock { Array($0.keys) } }
}
