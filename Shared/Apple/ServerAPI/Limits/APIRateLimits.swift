import AppStore

/// Says when a request of one app in one environment may be sent.
public protocol APILimits: Sendable {
    /// Returns when a request may be sent.
    ///
    /// - Parameter deadline: since the start of the clock.
    /// - Throws: `APIError.rateLimited`, at once, where that would be after the deadline; `CancellationError`.
    func admit(_ endpoint: APIEndpoint, before deadline: Duration) async throws

    /// Apple answered 429: no request of this kind until its Retry-After, an hour at most.
    func close(_ endpoint: APIEndpoint, for pause: Duration) async
}

extension APIEndpoint {
    /// A share of Apple's limit.
    ///
    /// What may be asked once a second only is not divided: a part of it in the sandbox would be a request in minutes, and such
    /// requests are rare.
    /// - Parameter share: more than 1 only for a simulator that allows it.
    /// - Returns: requests per second, and how many may be sent at once after a pause.
    public func limit(in environment: AppStoreEnvironment, share: Double) -> (perSecond: Double, burst: Int) {
        let rate =
            requestsPerSecond * (requestsPerSecond > 1 ? share : max(1, share)) * (environment == .production ? 1 : 0.1)
        return (rate, max(1, Int(rate / 10)))
    }
}

/// Apple's limits for one app in one environment: a bucket for each kind of call, for one process.
///
/// Share one between all clients of the app and environment. Several processes with keys of the same app share
/// Apple's limit without knowing of each other: then Apple's 429 closes the bucket until the time that Apple names.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/identifying-rate-limits>
public struct APIRateLimits: APILimits {
    private let limits: [APIEndpoint: RequestLimit]

    /// - Parameter scale: A part of Apple's limits, where other programs need the rest.
    public init(environment: AppStoreEnvironment, scale: Double = 1, clock: APIClock) {
        limits = Dictionary(
            uniqueKeysWithValues: APIEndpoint.allCases.map { endpoint in
                let limit = endpoint.limit(in: environment, share: scale)
                return (endpoint, RequestLimit(perSecond: limit.perSecond, burst: limit.burst, clock: clock))
            })
    }

    /// Returns when a request may be sent.
    ///
    /// - Throws: `APIError.rateLimited`, at once, where that would be after the deadline; `CancellationError`.
    public func admit(_ endpoint: APIEndpoint, before deadline: Duration) async throws {
        try await limits[endpoint]?.admit(before: deadline)
    }

    /// Apple answered 429: no request of this kind until its Retry-After.
    public func close(_ endpoint: APIEndpoint, for pause: Duration) async { await limits[endpoint]?.close(for: pause) }
}
