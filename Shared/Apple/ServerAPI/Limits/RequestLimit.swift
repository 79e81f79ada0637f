import struct Foundation.Date

/// Says when requests of one kind to one server may be sent, for one process: a ``TokenBucket`` that waits.
package actor RequestLimit {
    private var bucket: TokenBucket
    private let clock: APIClock

    /// - Parameters:
    ///   - rate: requests per second, above 0.
    ///   - burst: How many may go at once after a pause.
    package init(perSecond rate: Double, burst: Int, clock: APIClock) {
        bucket = TokenBucket(perSecond: rate, burst: burst)
        self.clock = clock
    }

    /// Returns when a request may be sent.
    ///
    /// - Parameter deadline: since the start of the clock; nil waits as long as it takes.
    /// - Throws: `APIError.rateLimited`, at once, where that would be after the deadline; `CancellationError`.
    package func admit(before deadline: Duration? = nil) async throws {
        while true {
            let now = clock.elapsed()
            let moment = bucket.moment(at: now)
            if let deadline, moment > deadline {
                throw APIError.rateLimited(until: clock.now().addingTimeInterval((moment - now) / .seconds(1)))
            }
            bucket.take(moment)
            if moment > now { try await clock.sleep(moment - now) }
            // Others ran during the sleep, and may have learned that the server wants a pause.
            if bucket.isOpen(at: moment) { return }
        }
    }

    /// The server answered 429: no request until its Retry-After.
    package func close(for pause: Duration) { bucket.close(until: clock.elapsed() + pause) }
}
