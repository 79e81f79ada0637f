import Foundation

/// Percentiles of an unlimited run in fixed space: buckets that grow by a twentieth, from 10 µs to beyond an hour.
struct Latencies: Sendable {
    private static let smallest = 0.01
    private static let growth = 1.05
    private var buckets = [Int](repeating: 0, count: 420)
    private var count = 0

    mutating func add(_ duration: Duration) {
        let bucket = (log(max(duration.milliseconds / Self.smallest, 1)) / log(Self.growth)).rounded(.up)
        buckets[min(Int(bucket), buckets.count - 1)] += 1
        count += 1
    }

    /// Milliseconds, at most a twentieth too high; 0 if nothing was added.
    func percentile(_ share: Double) -> Double {
        var remaining = Int((Double(count) * share).rounded(.up))
        for (index, amount) in buckets.enumerated() where amount > 0 {
            remaining -= amount
            if remaining <= 0 { return Self.smallest * pow(Self.growth, Double(index)) }
        }
        return 0
    }
}

extension Duration {
    var milliseconds: Double { Double(components.seconds) * 1000 + Double(components.attoseconds) * 1e-15 }
}
