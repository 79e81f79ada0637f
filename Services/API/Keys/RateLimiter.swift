import Synchronization

import struct Foundation.UUID

/// How many requests a key may make: a bucket per key that fills evenly. Each instance counts for itself.
final class RateLimiter: Sendable {
    /// What is left after a request.
    struct Decision: Equatable {
        var isAllowed: Bool
        var remaining: Int
        /// Until the bucket is full again, or, where the request was rejected, until the next one is allowed.
        var seconds: Int
    }

    private struct Bucket {
        var level: Double
        var at: ContinuousClock.Instant
    }

    /// Requests in a window.
    let quota: Int
    static let window = 60

    private let buckets = Mutex<[UUID: Bucket]>([:])

    init(quota: Int) { self.quota = quota }

    func take(_ key: UUID, at now: ContinuousClock.Instant) -> Decision {
        let perSecond = Double(quota) / Double(Self.window)
        return buckets.withLock { buckets in
            var bucket = buckets[key] ?? Bucket(level: Double(quota), at: now)
            let elapsed = max(0, bucket.at.duration(to: now) / .seconds(1))
            bucket.level = min(Double(quota), bucket.level + elapsed * perSecond)
            bucket.at = now
            let isAllowed = bucket.level >= 1
            if isAllowed { bucket.level -= 1 }
            buckets[key] = bucket
            let missing = isAllowed ? Double(quota) - bucket.level : 1 - bucket.level
            return Decision(
                isAllowed: isAllowed, remaining: Int(bucket.level), seconds: Int((missing / perSecond).rounded(.up)))
        }
    }

    /// `RateLimit-Policy` and `RateLimit`, as the draft of the IETF has them.
    func headers(_ decision: Decision) -> [(name: String, value: String)] {
        [
            ("RateLimit-Policy", "\"key\";q=\(quota);w=\(Self.window)"),
            ("RateLimit", "\"key\";r=\(decision.remaining);t=\(decision.seconds)"),
        ]
    }
}
