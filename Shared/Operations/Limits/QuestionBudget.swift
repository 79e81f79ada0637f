import AppStore
import Contracts
import ServerAPI

/// Questions to Apple that each API key, or person, may cause. All of them and all services share Apple's limits, so the made-up ids
/// of one must not use them up. Each instance counts for itself.
package struct QuestionBudget<Asker: Hashable & Sendable>: Sendable {
    /// The share of Apple's rate that one may use; all services share that rate.
    private static var part: Double { 0.25 }
    /// Seconds in which one may ask all at once what it may ask within them.
    private static var window: Int { 10 }

    private let production: RateLimiter<Asker>
    private let sandbox: RateLimiter<Asker>

    /// - Parameter share: of Apple's limits, for all services together.
    package init(share: Double) {
        func limiter(_ environment: AppStoreEnvironment) -> RateLimiter<Asker> {
            let rate = APIEndpoint.transactionInfo.limit(in: environment, share: share).perSecond
            return RateLimiter(quota: max(1, Int(rate * Self.part * Double(Self.window))), window: Self.window)
        }
        production = limiter(.production)
        sandbox = limiter(.sandbox)
    }

    /// - Parameter quota: questions within 10 seconds, in each environment.
    package init(quota: Int) {
        production = RateLimiter(quota: quota, window: Self.window)
        sandbox = RateLimiter(quota: quota, window: Self.window)
    }

    /// Takes what a request is about to ask, if something is left. Immediately before the question, or before several that are asked
    /// together or not at all: those of a request that is allowed are asked, and what is missing is made up for before the next.
    package func take(
        _ asker: Asker, in environment: StoreEnvironment, _ count: Int = 1, for endpoint: APIEndpoint,
        at now: ContinuousClock.Instant
    ) -> RateLimiter<Asker>.Decision {
        limiter(environment).take(asker, Self.cost(count, endpoint), at: now)
    }

    /// Takes what belongs to a question that was allowed: a further page of its answer.
    package func charge(
        _ asker: Asker, in environment: StoreEnvironment, _ count: Int = 1, for endpoint: APIEndpoint,
        at now: ContinuousClock.Instant
    ) {
        limiter(environment).charge(asker, Self.cost(count, endpoint), at: now)
    }

    /// The cost of requests, in questions about single transactions, of which Apple allows the most.
    private static func cost(_ count: Int, _ endpoint: APIEndpoint) -> Double {
        Double(count) * APIEndpoint.transactionInfo.requestsPerSecond / endpoint.requestsPerSecond
    }

    private func limiter(_ environment: StoreEnvironment) -> RateLimiter<Asker> {
        environment == .production ? production : sandbox
    }
}
