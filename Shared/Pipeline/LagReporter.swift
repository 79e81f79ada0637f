import Chassis
import Contracts

import struct Foundation.Date

/// Publishes how far a source is behind, every few seconds.
public struct LagReporter: LongRunning {
    private let source: KafkaSource
    private let stage: Service
    private let now: @Sendable () -> Date
    private let clock: any Clock<Duration>

    /// - Parameters:
    ///   - source: whose lag it is.
    ///   - stage: the service that reads, in metrics.
    ///   - now: tells the age of a record.
    ///   - clock: waits between reports.
    public init(
        _ source: KafkaSource, stage: Service, now: @escaping @Sendable () -> Date,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.source = source
        self.stage = stage
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
            let labels = (stage.rawValue, lag.partition.topic, String(lag.partition.partition))
            Metric.lagRecords.gauge(labels.0, labels.1, labels.2).record(lag.records)
            Metric.lagSeconds.gauge(labels.0, labels.1, labels.2).record(lag.seconds)
        }
    }
}
