import Chassis

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
            while !Task.isCancelled {
                await report()
                try? await clock.sleep(for: .seconds(5))
            }
        }
    }

    /// A broker that does not answer leaves the last report standing; the worker's own log says why.
    private func report() async {
        for lag in (try? await source.lag(now: now())) ?? [] {
            let labels = (worker, lag.partition.topic, String(lag.partition.partition))
            Metric.lagRecords.gauge(labels.0, labels.1, labels.2).record(lag.records)
            Metric.lagSeconds.gauge(labels.0, labels.1, labels.2).record(lag.seconds)
        }
    }
}
