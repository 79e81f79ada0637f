/// One attempt to deliver a signed notification.
struct NotificationDelivery: Sendable {
    var notification: SignedNotification
    /// From 1; rises with every retry.
    var attempt = 1
    /// A deliberate copy of one that was accepted.
    var isRepetition = false
}

/// The result of an attempt.
struct Answer: Sendable, Equatable {
    /// Why there was no answer, as the record says it.
    enum Failure: String, Sendable {
        case timedOut = "timed out"
        case connectTimedOut = "connect timed out"
        case closedBeforeAnswer = "closed before the answer"
        case noConnection = "no connection"
    }

    /// Nil without an answer; see ``failure``.
    var status: Int?
    var failure: String?
    /// From the first byte sent to the end of the answer.
    var duration: Duration

    /// Apple counts 200 to 206 as success and nothing else.
    var isAccepted: Bool { status.map { (200...206).contains($0) } ?? false }
}
