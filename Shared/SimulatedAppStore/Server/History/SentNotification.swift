import AppStore
import Contracts
import Foundation

/// A notification in Get Notification History.
struct SentNotification: Sendable {
    var uuid: String
    var kind: NotificationKind
    var originalTransactionId: String?
    var payload: SealedPayload
    var firstAttempt: Date
    /// In the order of their ends; empty during the first.
    var attempts: [DeliveryAttempt] = []

    init(_ notification: SignedNotification, firstAttempt: Date) {
        uuid = notification.entry.uuid
        kind = NotificationKind(
            NotificationType(rawValue: notification.entry.notificationType),
            notification.entry.subtype.map { NotificationSubtype(rawValue: $0) })
        originalTransactionId = notification.entry.originalTransactionId
        payload = notification.payload
        self.firstAttempt = firstAttempt
    }

    var isAccepted: Bool { attempts.last?.result == .success }

    /// Attempted and not accepted so far, whether Apple retries or not.
    var isFailing: Bool { !attempts.isEmpty && !isAccepted }
}

/// One of up to six attempts.
struct DeliveryAttempt: Sendable, Equatable {
    /// Those of Apple's results that can occur here.
    enum Result: String, Sendable {
        case success = "SUCCESS"
        case timedOut = "TIMED_OUT"
        case noResponse = "NO_RESPONSE"
        case socketIssue = "SOCKET_ISSUE"
        case prematureClose = "PREMATURE_CLOSE"
        case unsuccessfulStatus = "UNSUCCESSFUL_HTTP_RESPONSE_CODE"
        case other = "OTHER"

        init(_ answer: Answer) {
            self =
                switch (answer.isAccepted, answer.status, answer.failure.flatMap(Answer.Failure.init)) {
                case (true, _, _): .success
                case (_, .some, _): .unsuccessfulStatus
                case (_, _, .timedOut): .timedOut
                case (_, _, .connectTimedOut): .noResponse
                case (_, _, .closedBeforeAnswer): .prematureClose
                case (_, _, .noConnection): .socketIssue
                case (_, _, nil): .other
                }
        }
    }

    var date: Date
    var result: Result
}
