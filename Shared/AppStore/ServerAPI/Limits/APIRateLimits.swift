import struct Foundation.Date

/// Apple's limits for one app in one environment: a bucket for each kind of call.
///
/// Share one between all clients of the app and environment in a process. Several processes with keys of the same app share
/// Apple's limit without knowing of each other: then Apple's 429 closes the bucket until the time that Apple names.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/identifying-rate-limits>
public actor APIRateLimits {
    private var buckets: [APIEndpoint: TokenBucket]
    private let clock: APIClock

    /// - Parameter scale: A part of Apple's limits, where other programs need the rest; more than 1 only for a
    ///   simulator that allows it. What may be asked once a second only is not divided: a part of it in the sandbox would
    ///   be a request in minutes, and such requests are rare.
    public init(environment: AppStoreEnvironment, scale: Double = 1, clock: APIClock) {
        let tenth = environment == .production ? 1 : 0.1
        self.clock = clock
        buckets = Dictionary(
            uniqueKeysWithValues: APIEndpoint.allCases.map { endpoint in
                let share = endpoint.requestsPerSecond > 1 ? scale : max(1, scale)
                let rate = endpoint.requestsPerSecond * share * tenth
                return (endpoint, TokenBucket(perSecond: rate, burst: max(1, Int(rate / 10))))
            })
    }

    /// Returns when a request may be sent.
    ///
    /// - Throws: `APIError.rateLimited`, at once, where that would be after the deadline; `CancellationError`.
    func admit(_ endpoint: APIEndpoint, before deadline: Duration) async throws {
        while var bucket = buckets[endpoint] {
            let now = clock.elapsed()
            let moment = bucket.moment(at: now)
            guard moment <= deadline else {
                throw APIError.rateLimited(until: clock.now().addingTimeInterval((moment - now) / .seconds(1)))
            }
            bucket.take(moment)
            buckets[endpoint] = bucket
            if moment > now { try await clock.sleep(moment - now) }
            // Others ran during the sleep, and may have learned that Apple wants a pause.
            if buckets[endpoint]?.isOpen(at: moment) != false { return }
        }
    }

    /// Apple answered 429: no request of this kind until its Retry-After.
    func close(_ endpoint: APIEndpoint, for pause: Duration) {
        buckets[endpoint]?.close(until: clock.elapsed() + pause)
    }
}
