import Contracts
import Foundation
import Synchronization

/// Rate limits per app and endpoint: Apple's table, and a tenth of it in the sandbox.
final class RateLimits: Sendable {
    private struct Key: Hashable {
        var app: App
        var endpoint: Endpoint
    }

    private let scale: Double
    private let buckets = Mutex<[Key: RequestBucket]>([:])

    /// - Parameter scale: factor for Apple's limits.
    init(scale: Double) { self.scale = scale }

    /// Takes a request.
    /// - Returns: nil if it is within the limit, else when the next one is.
    func take(_ endpoint: Endpoint, of app: App, now: Date) -> Date? {
        let rate = endpoint.requestsPerSecond * scale * (app.environment == .production ? 1 : 0.1)
        return buckets.withLock {
            $0[Key(app: app, endpoint: endpoint), default: RequestBucket(rate: rate, now: now)].take(now: now)
        }
    }
}

/// A token bucket that fills steadily. Pure.
struct RequestBucket: Sendable {
    /// Apple counts over an hour. Two seconds' worth are stricter, and enough for a client that keeps the rate over a
    /// network with its delays.
    private static let credit = 2.0
    /// Tolerance for rounding, so that a client that returns when it was told is served.
    private static let tolerance = 1e-6

    private let rate: Double
    private let capacity: Double
    private var tokens: Double
    private var filled: Date

    /// - Parameter rate: tokens per second, above 0.
    init(rate: Double, now: Date) {
        self.rate = rate
        capacity = max(1, rate * Self.credit)
        tokens = capacity
        filled = now
    }

    /// - Returns: nil if there was a token, else when there will be one.
    mutating func take(now: Date) -> Date? {
        if now > filled {
            tokens = min(capacity, tokens + now.timeIntervalSince(filled) * rate)
            filled = now
        }
        guard tokens < 1 - Self.tolerance else {
            tokens -= 1
            return nil
        }
        return now.addingTimeInterval((1 - tokens) / rate)
    }
}
