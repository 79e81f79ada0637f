import Metrics
import Synchronization

/// The values of one metric with one set of labels.
protocol Series: AnyObject, Sendable {
    var samples: [Sample] { get }
}

/// One line of the exposition, without the name and the labels that the whole series shares.
struct Sample {
    var suffix = ""
    var labels: [(String, String)] = []
    let value: Double
}

/// Only increases; a reset is ignored, because scrapers derive rates from it.
final class CounterSeries: Series, CounterHandler {
    private let count = Atomic<Int64>(0)

    func increment(by amount: Int64) {
        guard amount > 0 else { return }
        count.wrappingAdd(amount, ordering: .relaxed)
    }

    func reset() {}

    var samples: [Sample] { [Sample(value: Double(count.load(ordering: .relaxed)))] }
}

/// The latest value.
final class GaugeSeries: Series, RecorderHandler, MeterHandler {
    private let value = Mutex<Double>(0)

    func record(_ value: Int64) { set(Double(value)) }
    func record(_ value: Double) { set(value) }
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { self.value.withLock { $0 = value } }
    func increment(by amount: Double) { value.withLock { $0 += amount } }
    func decrement(by amount: Double) { value.withLock { $0 -= amount } }

    var samples: [Sample] { [Sample(value: value.withLock { $0 })] }
}

/// Counts per bucket.
///
/// Durations arrive in nanoseconds and are kept in seconds.
final class HistogramSeries: Series, RecorderHandler, TimerHandler {
    private struct State {
        var counts: [UInt64]
        var sum = 0.0
    }

    private let buckets: [Double]
    private let state: Mutex<State>

    /// - Parameter buckets: upper bounds, ascending, without infinity.
    init(buckets: [Double]) {
        self.buckets = buckets
        state = Mutex(State(counts: Array(repeating: 0, count: buckets.count + 1)))
    }

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        guard !value.isNaN else { return }
        let bucket = buckets.firstIndex { value <= $0 } ?? buckets.count
        state.withLock {
            $0.counts[bucket] += 1
            $0.sum += value
        }
    }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

    /// Cumulative, as the format requires, and taken at one moment, so `_count` is always the last bucket.
    var samples: [Sample] {
        let state = self.state.withLock { $0 }
        var total: UInt64 = 0
        var samples: [Sample] = []
        for (bound, count) in zip(buckets + [.infinity], state.counts) {
            total += count
            samples.append(
                Sample(suffix: "_bucket", labels: [("le", PrometheusText.number(bound))], value: Double(total)))
        }
        samples.append(Sample(suffix: "_sum", value: state.sum))
        samples.append(Sample(suffix: "_count", value: Double(total)))
        return samples
    }
}
