import struct Foundation.Date

/// One call from attempt to attempt: what has failed so far decides what comes next. No I/O.
struct CallCourse: Sendable {
    /// How long a 429 keeps back requests of its kind at most, those of other processes, too. Apple counts by the hour;
    /// a wrong Retry-After must not stop them for a day.
    static let longestClosure = Duration.seconds(3600)

    private let policy: APIRetryPolicy
    private var failures = 0
    private var rejectedTokens = 0
    private var pauses = 0

    init(_ policy: APIRetryPolicy) { self.policy = policy }

    /// What to do about an attempt.
    enum Step: Sendable, Hashable {
        /// The call is over.
        case done([UInt8])
        /// The call is over.
        case fail(APIError)
        /// Once more, after a pause; if there is no time for that, this is the error.
        case again(after: Duration, else: APIError)
        /// Once more when the bucket, closed for this long, lets it.
        case queue(closedFor: Duration)
        /// Once more at once, unless nothing has changed about the token.
        case reauthorize(serverDate: Date?, isLastChance: Bool)
    }

    /// - Parameters:
    ///   - chances: How often a token may be rejected before every key has been tried.
    ///   - random: From 0 up to 1.
    mutating func step(after meaning: AnswerMeaning, chances: Int, random: Double) -> Step {
        switch meaning {
        case .success(let body): return .done(body)
        case .final(let error): return .fail(error)
        case .unauthorized(let serverDate):
            rejectedTokens += 1
            return .reauthorize(serverDate: serverDate, isLastChance: rejectedTokens >= chances)
        case .tooMany(let pause):
            pauses += 1
            // Without a time that lies ahead there would be no pause at all, and Apple counts rejected requests, too.
            let least = policy.pause(afterFailures: pauses, random: random)
            return .queue(closedFor: min(max(pause ?? .zero, least), Self.longestClosure))
        case .transient(let error, let pause):
            failures += 1
            guard failures < policy.attempts else { return .fail(error) }
            return .again(
                after: max(pause ?? .zero, policy.pause(afterFailures: failures, random: random)), else: error)
        }
    }
}
