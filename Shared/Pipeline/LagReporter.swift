import Chassis
import Kafka

import struct Foundation.Date

/// Publishes how far a source is behind, every few seconds.
public struct LagReporter: LongRunning {
    private let source: KafkaSource
    private let worker: String
    private let now: @Sendable () -> Date
    private let clock: any Clock<Duration>

    /// - Parameters:
    ///   - source: whose lag it is.
    ///   - worker: who reads, in metrics.
    ///   - now: tells the age of a record.
    ///   - clock: waits between reports.
    public init(
        _ source: KafkaSource, worker: String, now: @escaping @Sendable () -> Date,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.source = source
        self.worker = worker
        self.now = now
        self.clock = clock
    }

    /// Until the process is told to stop.
    public func run() async throws {
        await cancelWhenGracefulShutdown {
            var report = LagReport()
            while !Task.isCancelled {
                // A broker that does not answer leaves the last report standing; the worker's own log says why.
                if let lags = try? await source.lag(now: now()) { publish(report.next(lags)) }
                try? await clock.sleep(for: .seconds(5))
            }
        }
    }

    private func publish(_ lags: [KafkaSource.Lag]) {
        for lag in lags {
            let labels = (worker, lag.partition.topic, String(lag.partition.partition))
            Metric.lagRecords.gauge(labels.0, labels.1, labels.2).record(lag.records)
            Metric.lagSeconds.gauge(labels.0, labels.1, labels.2).record(lag.seconds)
        }
    }
}

/// What gauges are set to: they keep what they were last told, so a partition that was taken away is told to be at its end.
struct LagReport {
    private var reported: Set<TopicPartition> = []

    mutating func next(_ lags: [KafkaSource.Lag]) -> [KafkaSource.Lag] {
        let present = Set(lags.map(\.partition))
        defer { reported = present }
        return lags + reported.subtracting(present).map { KafkaSource.Lag(partition: $0, records: 0, seconds: 0) }
    }
}
