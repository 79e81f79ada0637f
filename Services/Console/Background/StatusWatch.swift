import Chassis
import Operations
import Synchronization

import struct Foundation.Date

/// Looks at the pipeline again and again, so that no page has to: a page shows the last report and its age.
final class StatusWatch: Service {
    /// What a page shows.
    struct View: Sendable {
        var report: PipelineStatus?
        /// A lag in seconds of each stage for each of the looks; nil where the stage could not be read.
        var lags: [String: [Double?]]
        /// When the lags were read, the oldest first.
        var looks: [Date] = []
        /// Of each stage the records per second between the last two looks; none where one of them failed.
        var rates: [String: Double] = [:]

        private static let history = 60

        /// The lags that could be read, the oldest first.
        func knownLags(of stage: String) -> [Double] { (lags[stage] ?? []).compactMap(\.self) }

        /// Makes a report the last one.
        mutating func add(_ report: PipelineStatus) {
            rates = self.report.map { StatusWatch.rates(from: $0, to: report) } ?? [:]
            self.report = report
            guard let stages = report.stages.value else { return }
            let read = Dictionary(
                stages.map { ($0.name, $0.behindSeconds ?? 0) }, uniquingKeysWith: { first, _ in first })
            for name in Set(lags.keys).union(read.keys) {
                let earlier = lags[name] ?? Array(repeating: nil, count: looks.count)
                lags[name] = (earlier + [read[name]]).suffix(Self.history)
            }
            looks = (looks + [report.at]).suffix(Self.history)
        }
    }

    private let view = Mutex(View(report: nil, lags: [:]))
    private let reader: StatusReader
    private let interval: Duration
    private let clock: ProcessClock

    init(reader: StatusReader, interval: Duration, clock: ProcessClock) {
        self.reader = reader
        self.interval = interval
        self.clock = clock
    }

    var current: View { view.withLock { $0 } }

    /// A look may wait for brokers for seconds; a process that stops does not wait for it.
    func run() async throws {
        let looks = Task {
            while !Task.isCancelled {
                await look()
                try? await Task.sleep(for: interval)
            }
        }
        try? await gracefulShutdown()
        looks.cancel()
    }

    static func rates(from old: PipelineStatus, to new: PipelineStatus) -> [String: Double] {
        let seconds = new.at.timeIntervalSince(old.at)
        guard seconds > 0 else { return [:] }
        let before = Dictionary(
            (old.stages.value ?? []).map { ($0.name, $0.settled) }, uniquingKeysWith: { first, _ in first })
        return (new.stages.value ?? []).reduce(into: [:]) { rates, stage in
            // Offsets that an operator reset to the past are no rate.
            guard let settled = stage.settled, let earlier = before[stage.name] ?? nil, settled >= earlier else {
                return
            }
            rates[stage.name] = Double(settled - earlier) / seconds
        }
    }

    func look() async {
        let report = await reader.report(at: clock.now())
        // Before a backlog the clients of a report leave tens of megabytes of freed memory behind.
        giveMemoryBack()
        view.withLock { $0.add(report) }
    }
}
