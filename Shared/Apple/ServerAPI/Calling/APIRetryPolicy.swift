/// How often and when a call is tried again.
public struct APIRetryPolicy: Sendable, Hashable {
    /// Attempts in all; those that Apple answered with 429 or 401 do not count.
    public var attempts: Int
    /// Before the second attempt at the longest; doubled before each further one.
    public var firstPause: Duration
    /// Never longer than this.
    public var longestPause: Duration
    /// Within which one attempt has to be answered.
    public var attemptTimeout: Duration

    /// The defaults are over after about eight seconds of pauses.
    public init(
        attempts: Int = 5, firstPause: Duration = .milliseconds(500), longestPause: Duration = .seconds(30),
        attemptTimeout: Duration = .seconds(20)
    ) {
        self.attempts = attempts
        self.firstPause = firstPause
        self.longestPause = longestPause
        self.attemptTimeout = attemptTimeout
    }

    /// Before the next attempt after so many failures: between half and the whole of what has doubled so often, so that
    /// many who failed together do not return together.
    package func pause(afterFailures failures: Int, random: Double) -> Duration {
        let doubled = firstPause * (1 << min(max(0, failures - 1), 20))
        return min(doubled, longestPause) * (0.5 + random / 2)
    }
}
