import Synchronization

/// How many requests a key may make: a bucket per key that fills evenly. Each instance counts for itself.
package final class RateLimiter<Key: Hashable & Sendable>: Sendable {
    /// What is left after a request.
    package struct Decision: Equatable {
        package var isAllowed: Bool
        package var remaining: Int
        /// Until the bucket is full again, or, where the request was rejected, until the next one is allowed.
        package var seconds: Int
    }

    private struct Bucket {
        var level: Double
        var at: ContinuousClock.Instant
    }

    /// Requests in a window.
    package let quota: Int
    /// In seconds.
    private let window: Int
    /// `RateLimit-Policy`, as the draft of the IETF has it.
    package let policy: String

    private let buckets = Mutex<[Key: Bucket]>([:])

    package init(quota: Int, window: Int = 60) {
        self.quota = quota
        self.window = window
        policy = "\"key\";q=\(quota);w=\(window)"
    }

    /// Takes an amount where at least one is left: what is missing is made up for before the next is allowed.
    package func take(_ key: Key, _ amount: Double = 1, at now: ContinuousClock.Instant) -> Decision {
        decide(key, taking: amount, at: now)
    }

    /// Whether one would be allowed.
    package func look(_ key: Key, at now: ContinuousClock.Instant) -> Decision { decide(key, taking: 0, at: now) }

    /// Takes what something has cost, known only afterwards: a level below zero is made up for before the next is allowed.
    package func charge(_ key: Key, _ amount: Double, at now: ContinuousClock.Instant) {
        buckets.withLock { buckets in
            var bucket = filled(buckets[key], at: now)
            bucket.level -= amount
            buckets[key] = bucket
        }
    }

    private func decide(_ key: Key, taking amount: Double, at now: ContinuousClock.Instant) -> Decision {
        buckets.withLock { buckets in
            var bucket = filled(buckets[key], at: now)
            let isAllowed = bucket.level >= 1
            if isAllowed { bucket.level -= amount }
            buckets[key] = bucket
            let missing = isAllowed ? Double(quota) - bucket.level : 1 - bucket.level
            return Decision(
                isAllowed: isAllowed, remaining: max(0, Int(bucket.level)),
                seconds: Int((missing / perSecond).rounded(.up)))
        }
    }

    private var perSecond: Double { Double(quota) / Double(window) }

    private func filled(_ bucket: Bucket?, at now: ContinuousClock.Instant) -> Bucket {
        var bucket = bucket ?? Bucket(level: Double(quota), at: now)
        let elapsed = max(0, bucket.at.duration(to: now) / .seconds(1))
        bucket.level = min(Double(quota), bucket.level + elapsed * perSecond)
        bucket.at = now
        return bucket
    }

    /// `RateLimit`, as the draft of the IETF has it.
    package func header(_ decision: Decision) -> String { "\"key\";r=\(decision.remaining);t=\(decision.seconds)" }
}
