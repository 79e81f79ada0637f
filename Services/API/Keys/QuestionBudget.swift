import AppStore
import Contracts
import ServerAPI
import Storage

/// Questions to Apple that each key may cause. All keys and services share Apple's limits, so the made-up ids of one key must not use
/// them up. Each instance counts for itself.
struct QuestionBudget: Sendable {
    /// The share of Apple's rate that one key may use; all services share that rate.
    private static let part = 0.25
    /// Seconds in which a key may ask all at once what it may ask within them.
    private static let window = 10

    private let production: RateLimiter
    private let sandbox: RateLimiter

    /// - Parameter share: of Apple's limits, for all services together.
    init(share: Double) {
        func limiter(_ environment: AppStoreEnvironment) -> RateLimiter {
            let rate = APIEndpoint.transactionInfo.limit(in: environment, share: share).perSecond
            return RateLimiter(quota: max(1, Int(rate * Self.part * Double(Self.window))), window: Self.window)
        }
        production = limiter(.production)
        sandbox = limiter(.sandbox)
    }

    /// - Parameter quota: questions within 10 seconds, in each environment.
    init(quota: Int) {
        production = RateLimiter(quota: quota, window: Self.window)
        sandbox = RateLimiter(quota: quota, window: Self.window)
    }

    /// Takes what a request is about to ask, or refuses it. Immediately before the question, or before several that are asked together
    /// or not at all: those of a request that is allowed are asked, and what is missing is made up for before the next.
    func take(
        _ key: ClientKey, _ count: Int = 1, for endpoint: APIEndpoint = .transactionInfo,
        at now: ContinuousClock.Instant
    ) throws(Problem) {
        let decision = limiter(of: key).take(key.id, Self.cost(count, endpoint), at: now)
        guard !decision.isAllowed else { return }
        throw .exhausted(
            key, "has asked Apple as much as one key may", seconds: decision.seconds,
            "wait \(decision.seconds) s, and upload what is signed in place of ids")
    }

    /// Takes what belongs to a question that was allowed: a further page of its answer.
    func charge(
        _ key: ClientKey, _ count: Int = 1, for endpoint: APIEndpoint, at now: ContinuousClock.Instant
    ) {
        limiter(of: key).charge(key.id, Self.cost(count, endpoint), at: now)
    }

    /// The cost of requests, in questions about single transactions, of which Apple allows the most.
    private static func cost(_ count: Int, _ endpoint: APIEndpoint) -> Double {
        Double(count) * APIEndpoint.transactionInfo.requestsPerSecond / endpoint.requestsPerSecond
    }

    private func limiter(of key: ClientKey) -> RateLimiter { key.environment == .production ? production : sandbox }
}
