import Chassis
import Kafka

import struct Foundation.Date

/// Publishes the lag of a source every few seconds, and ends the process when its worker hangs.
public struct LagReporter: Service {
    /// `/livez` fails after half of it; a supervisor that does not check it restarts the process because it ended.
    static let patience = StallDetector.silenceLimit * 2
    private static let interval = Duration.seconds(5)
    /// Without a processed record the client's own knowledge of the end may be as old as the hang.
    private static let doubt = Duration.seconds(30)

    private let source: KafkaSource
    private let worker: String
    private let progress: WorkerProgress
    private let now: @Sendable () -> Date

    /// - Parameters:
    ///   - source: its lag is published.
    ///   - worker: its name in metrics.
    ///   - progress: gets the number of waiting records.
    ///   - now: for the age of a record.
    public init(
        _ source: KafkaSource, worker: String, progress: WorkerProgress, now: @escaping @Sendable () -> Date
    ) {
        self.source = source
        self.worker = worker
        self.progress = progress
        self.now = now
    }

    /// Until the process stops.
    /// - Throws: ``WorkerHangs``, which ends the process so that its supervisor starts another.
    public func run() async throws {
        try await cancelWhenGracefulShutdown {
            var report = LagReport()
            var sinceAsked = Duration.zero
            while !Task.isCancelled {
                let isAsking = sinceAsked >= Self.doubt
                sinceAsked = isAsking ? .zero : sinceAsked + Self.interval
                await publish(&report, askingBroker: isAsking)
                if progress.silence > Self.patience, let complaint = progress.complaint {
                    throw WorkerHangs(complaint: complaint)
                }
                try? await Task.sleep(for: Self.interval)
            }
        }
    }

    /// One report.
    /// - Parameter askingBroker: asks for the ends of partitions instead of using what the client knows.
    func publish(_ report: inout LagReport, askingBroker: Bool) async {
        // A broker that does not answer leaves the last report in place; the worker's own log has the reason.
        if let lags = try? await source.lag(now: now(), askingBroker: askingBroker) {
            for lag in report.next(lags) {
                let labels = (worker, lag.partition.topic, String(lag.partition.partition))
                Metric.lagRecords.gauge(labels.0, labels.1, labels.2).record(lag.records)
                Metric.lagSeconds.gauge(labels.0, labels.1, labels.2).record(lag.seconds)
            }
            if await source.hasPartitions {
                progress.observed(StallDetector.Backlog(lags), clientError: await source.clientError)
            } else if askingBroker {
                await observeGroup()
            } else {
                progress.ownsNothing()
            }
        }
        Metric.workerStalled.gauge(worker).record(progress.stalled / .seconds(1))
    }

    private func observeGroup() async {
        do {
            progress.observed(try await source.groupBacklog(), clientError: await source.clientError)
        } catch {
            progress.ownsNothing()
        }
    }
}

/// The worker processes nothing and no attempt fails: something below it hangs, and a new process starts clean.
struct WorkerHangs: Error, CustomStringConvertible {
    var complaint: String

    var description: String { "the \(complaint). Restart it; it continues at its last committed offsets" }
}

extension StallDetector.Backlog {
    /// nil where nothing waits.
    init?(_ lags: [KafkaSource.Lag]) {
        let waiting = lags.filter { $0.records > 0 }
        guard let first = waiting.first else { return nil }
        self.init(
            topic: first.partition.topic, partitions: waiting.count, records: waiting.reduce(0) { $0 + $1.records })
    }
}

/// Gauges keep their last value, so a revoked partition is set to 0.
struct LagReport {
    private var reported: Set<TopicPartition> = []

    mutating func next(_ lags: [KafkaSource.Lag]) -> [KafkaSource.Lag] {
        let present = Set(lags.map(\.partition))
        defer { reported = present }
        return lags + reported.subtracting(present).map { KafkaSource.Lag(partition: $0, records: 0, seconds: 0) }
    }
}
